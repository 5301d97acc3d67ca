#include "textflag.h"

// func interrupt80(number, a, b, c uint32) uint32
TEXT ·interrupt80(SB), NOSPLIT, $0-20
	MOVL number+0(FP), AX
	MOVL a+4(FP), BX
	MOVL b+8(FP), CX
	MOVL c+12(FP), DX
	INT  $0x80
	MOVL AX, ret+16(FP)
	RET
