//go:build !unix

package command

import "os/exec"

// bind leaves cmd as it is: what it starts may outlive it here.
func bind(*exec.Cmd, bool) {}

func refused(error) bool { return false }

func wait(cmd *exec.Cmd, _ bool) error { return cmd.Wait() }
