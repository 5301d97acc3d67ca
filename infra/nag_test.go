package infra

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	cdk "github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"
)

// cdk-nag's AWS Solutions pack over every variant: whatever it finds is
// acknowledged beside its resource, and the acknowledgements with their
// reasons stand in a golden file.
func TestNagFindsNothingThatIsNotAcknowledged(t *testing.T) {
	names := []string{"default", "full"}
	var report bytes.Buffer
	out := csv.NewWriter(&report)
	for _, name := range names {
		nagged := &variant{props: variants[name].props}
		t.Cleanup(func() { _ = os.RemoveAll(filepath.Dir(nagged.dir)) })
		nagged.synthesize(t, func(app cdk.App) {
			cdk.Aspects_Of(app).Add(cdknag.NewAwsSolutionsChecks(&cdknag.NagPackProps{
				Verbose: jsii.Bool(true), Reports: jsii.Bool(true),
				ReportFormats: &[]cdknag.NagReportFormat{cdknag.NagReportFormat_CSV},
			}), nil)
		})
		files, err := filepath.Glob(filepath.Join(nagged.dir, "*NagReport.csv"))
		if err != nil || len(files) != 1 {
			t.Fatalf("%s: want one report, got %v %v", name, files, err)
		}
		b, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		checked := 0
		var suppressed [][]string
		for _, row := range rows[1:] { // rule, resource, compliance, reason, level, what the rule asks
			switch checked++; row[2] {
			case "Compliant":
			case "Suppressed":
				suppressed = append(suppressed, []string{name, row[0], row[1], row[3]})
			default:
				t.Errorf("%s: %s on %s: %s: %s", name, row[0], row[1], row[2], row[5])
			}
		}
		if checked < 30 {
			t.Errorf("%s: cdk-nag made only %d checks: did it run?", name, checked)
		}
		slices.SortFunc(suppressed, func(a, b []string) int { return strings.Compare(strings.Join(a, "\x00"), strings.Join(b, "\x00")) })
		if err := out.WriteAll(suppressed); err != nil {
			t.Fatal(err)
		}
	}
	golden(t, "acknowledged.golden.csv", report.Bytes())
}
