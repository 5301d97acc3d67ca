package shape

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
)

// ErrOther is returned where a value and a shape, or a shape and a Go type, do not belong together.
var ErrOther = errors.New("lift: want the type and the values of this shape")

// Lift fills a T with the choices, presence and lengths of v, and with handles in place of tokens, texts and quotes.
// Their contents stay in the returned Handles.
func Lift[T any](s *Shape, v *Value) (T, Handles, error) {
	var t T
	h, err := s.LiftInto(v, reflect.ValueOf(&t).Elem())
	return t, h, err
}

// LiftSkeleton is Lift for a skeleton: equal to Lift of any value with that skeleton, but its handles have no content.
func LiftSkeleton[T any](s *Shape, k Skeleton) (T, Handles, error) {
	var t T
	h, err := s.LiftSkeletonInto(k, reflect.ValueOf(&t).Elem())
	return t, h, err
}

// LiftInto is Lift into a settable value of the shape's Go type.
func (s *Shape) LiftInto(v *Value, dst reflect.Value) (Handles, error) {
	if v == nil || v.shape != s || !dst.CanSet() || dst.Type() != s.goType {
		return Handles{}, ErrOther
	}
	l := lifter{v: v}
	l.lift(s.root, 0, dst, "")
	l.h.content = v
	return l.h, nil
}

// LiftSkeletonInto is LiftSkeleton into a settable value of the shape's Go type.
func (s *Shape) LiftSkeletonInto(k Skeleton, dst reflect.Value) (Handles, error) {
	h, err := s.LiftInto(k.v, dst)
	h.content = nil
	return h, err
}

type lifter struct {
	v *Value
	h Handles
}

// lift walks in canonical order, which fixes the numbers of the handles. path is that of the instance.
func (l *lifter) lift(n *node, at int32, dst reflect.Value, path string) {
	c := l.v.cells[at]
	switch n.form {
	case formEnum:
		dst.SetString(n.labels[c.n])
	case formBool:
		dst.SetBool(c.n == 1)
	case formInt:
		if x := n.lo + int64(c.n); dst.CanInt() {
			dst.SetInt(x)
		} else {
			dst.SetUint(uint64(x))
		}
	case formString:
		h := Handle{ref: len(l.h.list) + 1, kind: n.kind, path: path}
		l.h.list = append(l.h.list, h)
		l.h.cells = append(l.h.cells, at)
		switch n.kind {
		case KindToken:
			dst.Set(reflect.ValueOf(Token{h}))
		case KindText:
			dst.Set(reflect.ValueOf(Text{h}))
		case KindQuote:
			dst.Set(reflect.ValueOf(Quote{h}))
		default: // no other kind is a string
		}
	case formSet, formList:
		dst.Set(reflect.MakeSlice(n.goType, int(c.n), int(c.n)))
		for i, at := 0, c.first; i < int(c.n); i++ {
			l.lift(n.item, at, dst.Index(i), path+"["+strconv.Itoa(i)+"]")
			at = l.v.cells[at].next
		}
	case formObject:
		for i := range n.fields {
			f := &n.fields[i]
			at := c.first + int32(i)
			if l.v.cells[at].n == absent {
				continue
			}
			to := dst.Field(f.index)
			if f.optional {
				to.Set(reflect.New(f.value.goType))
				to = to.Elem()
			}
			sub := f.name
			if path != "" {
				sub = path + "." + f.name
			}
			l.lift(f.value, at, to, sub)
		}
	default:
		panic(fmt.Sprintf("shape: form %d is not of the closed list", n.form))
	}
}
