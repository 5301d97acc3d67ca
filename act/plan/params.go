package plan

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Place says whether a parameter tells where a write goes or what it says.
type Place uint8

// The two places of a parameter.
const (
	Address Place = iota + 1
	Content
)

// Param is one parameter of an action.
type Param struct {
	Name  string
	Place Place
	Value Value
}

type fieldPlan struct {
	index int
	name  string
	place Place
}

var fieldPlans sync.Map // reflect.Type → []fieldPlan

// NameForm is the form of a parameter's, a table's, a column's, a queue's and
// a destination's name. Each
// ledger holds what it stores to it once more.
const NameForm = `^[a-z][a-z0-9_]{0,62}$`

// LoginForm is the form of a person's login on GitHub: 39 letters, digits and
// hyphens at most, with a "_" before a managed user's suffix.
const LoginForm = `^[A-Za-z0-9][A-Za-z0-9_-]{0,38}$`

// RepositoryForm is the form of a repository on GitHub, owner/name, whose name
// is no step in a path, "." or "..".
const RepositoryForm = `^[A-Za-z0-9_-]{1,39}/[A-Za-z0-9._-]{1,100}$`

var (
	loginPattern      = regexp.MustCompile(LoginForm)
	repositoryPattern = regexp.MustCompile(RepositoryForm)
)

// IsName reports whether s is of NameForm. It is matched by hand: an audit
// asks for each column of each outcome.
func IsName(s string) bool {
	if len(s) < 1 || len(s) > 63 || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}

// maxInt is the largest whole number that every reader of JSON keeps exactly
// (RFC 8785, section 3.2.2.3).
const maxInt = 1<<53 - 1

// ReservedColumns lists the columns that every table has beside a recipe's
// own.
func ReservedColumns() []string { return slices.Clone(reservedColumns) }

var reservedColumns = []string{"key", "source", "label", "run"}

// ErrHandleInAddress is wrapped by the error of an action whose address holds
// a handle of the structure: it would write where a stranger says.
var ErrHandleInAddress = errors.New("an address takes constants and the target only")

// Params lists an action's parameters, addresses first and each place sorted
// by name. Columns of a row become parameters of their own.
//
// It is an error for a handle to stand in an address, for a handle to come
// from nowhere (the zero value, or an absent optional field), for a field to
// lack its place, for a table, column, queue, destination or login to be named
// badly, for a milestone's number to be out of its range, for a name to be
// given twice, and for a constant that JSON cannot keep.
func Params(a Action) ([]Param, error) {
	rv := reflect.ValueOf(a)
	if rv.Kind() != reflect.Struct {
		return nil, fmt.Errorf("action of type %T: want a struct", a)
	}
	fields, err := fieldsOf(rv.Type())
	if err != nil {
		return nil, fmt.Errorf("action %s: %w", a.Kind(), err)
	}
	size := len(fields)
	if row, ok := a.(TableRow); ok {
		size += len(row.Columns)
	}
	if err := checkAddress(a); err != nil {
		return nil, fmt.Errorf("action %s: %w", a.Kind(), err)
	}
	params := make([]Param, 0, size)
	for _, f := range fields {
		if cols, ok := rv.Field(f.index).Interface().([]Column); ok {
			for _, c := range cols {
				if !IsName(c.Name) || slices.Contains(reservedColumns, c.Name) {
					return nil, fmt.Errorf("action %s: column %.64q: want %s and none of %v", a.Kind(), c.Name, NameForm, ReservedColumns())
				}
				params = append(params, Param{c.Name, f.place, c.Value})
			}
			continue
		}
		v, err := valueOf(rv.Field(f.index))
		if err != nil {
			return nil, fmt.Errorf("action %s: parameter %s: %w", a.Kind(), f.name, err)
		}
		params = append(params, Param{f.name, f.place, v})
	}
	slices.SortFunc(params, func(x, y Param) int {
		if x.Place != y.Place {
			return int(x.Place) - int(y.Place)
		}
		return strings.Compare(x.Name, y.Name)
	})
	for i, p := range params {
		if slices.ContainsFunc(params[:i], func(q Param) bool { return q.Name == p.Name }) {
			return nil, fmt.Errorf("action %s: parameter %s is given twice", a.Kind(), p.Name)
		}
		if !p.Value.valid() {
			return nil, fmt.Errorf("action %s: parameter %s holds a handle of nothing: check the optional field before using it", a.Kind(), p.Name)
		}
		if !p.Value.exact() {
			return nil, fmt.Errorf("action %s: parameter %s: want valid UTF-8 and whole numbers of at most %d either way", a.Kind(), p.Name, maxInt)
		}
		for h := range p.Value.Handles {
			if h.Path() == "target" {
				return nil, fmt.Errorf("action %s: parameter %s holds the field target, which lists would spell as the run's target: rename the field", a.Kind(), p.Name)
			}
			if p.Place == Address {
				return nil, fmt.Errorf("action %s: address %s holds the handle @%s: %w", a.Kind(), p.Name, h.Path(), ErrHandleInAddress)
			}
		}
	}
	return params, nil
}

// checkAddress reports a constant address that no sink would take.
func checkAddress(a Action) error {
	switch a := a.(type) {
	case TableRow:
		if !IsName(a.Table) {
			return fmt.Errorf("table %.64q: want %s", a.Table, NameForm)
		}
	case QueueSend:
		if !IsName(a.Queue) {
			return fmt.Errorf("queue %.64q: want %s", a.Queue, NameForm)
		}
	case WebhookPost:
		if !IsName(a.Destination) {
			return fmt.Errorf("destination %.64q: want %s", a.Destination, NameForm)
		}
	case GitHubAssign:
		if !loginPattern.MatchString(a.Login) {
			return fmt.Errorf("login %.64q: want %s", a.Login, LoginForm)
		}
	case GitHubIssue:
		if !repositoryPattern.MatchString(a.Repository) || strings.HasSuffix(a.Repository, "/.") || strings.HasSuffix(a.Repository, "/..") {
			return fmt.Errorf("repository %.64q: want %s", a.Repository, RepositoryForm)
		}
	case GitHubMilestone:
		if a.Number < 1 || a.Number > 1<<31-1 {
			return fmt.Errorf("number %d: want 1 to %d", a.Number, 1<<31-1)
		}
	}
	return nil
}

func fieldsOf(t reflect.Type) ([]fieldPlan, error) {
	if f, ok := fieldPlans.Load(t); ok {
		return f.([]fieldPlan), nil
	}
	var fields []fieldPlan
	for i := range t.NumField() {
		f := t.Field(i)
		address, isAddress := f.Tag.Lookup("address")
		content, isContent := f.Tag.Lookup("content")
		switch {
		case isAddress == isContent:
			return nil, fmt.Errorf("field %s: want exactly one tag, address or content", f.Name)
		case isAddress:
			fields = append(fields, fieldPlan{i, address, Address})
		default:
			fields = append(fields, fieldPlan{i, content, Content})
		}
	}
	fieldPlans.Store(t, fields)
	return fields, nil
}

func valueOf(rv reflect.Value) (Value, error) {
	switch v := rv.Interface().(type) {
	case Ref:
		return v.value(), nil
	case Template:
		return v.v, nil
	case Value:
		return v, nil
	}
	switch rv.Kind() {
	case reflect.String:
		return constantString(rv.String()), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return constantInt(rv.Int()), nil
	case reflect.Bool:
		return constantBool(rv.Bool()), nil
	default:
		return Value{}, fmt.Errorf("type %s: want a string, an int, a bool, Ref, Template or Column", rv.Type())
	}
}
