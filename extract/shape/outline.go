package shape

// span is a part of a document.
type span struct{ from, to int }

// outline is where things are in a canonical document.
type outline struct {
	strings, numbers, objects []span
	members                   []member
	arrays                    []array
	values                    []span // everything but the root
}

type member struct{ key, whole span } // whole is key, colon and value

type array struct {
	span
	items []span
}

// outlineOf is empty for a document that is not canonical JSON: such a one is mutated as bytes.
func outlineOf(doc []byte) outline {
	w := outliner{b: doc}
	if end, ok := w.value(0, 0); !ok || end != len(doc) {
		return outline{}
	}
	w.o.values = w.o.values[:max(len(w.o.values)-1, 0)]
	return w.o
}

type outliner struct {
	b []byte
	o outline
}

func (w *outliner) at(i int) byte {
	if i < len(w.b) {
		return w.b[i]
	}
	return 0
}

func (w *outliner) value(i, depth int) (end int, ok bool) {
	if depth > 2*maxDepth {
		return 0, false
	}
	switch c := w.at(i); {
	case c == '{':
		end, ok = w.object(i, depth)
		w.o.objects = append(w.o.objects, span{i, end})
	case c == '[':
		end, ok = w.array(i, depth)
	case c == '"':
		end, ok = w.str(i)
		w.o.strings = append(w.o.strings, span{i, end})
	case c == '-' || c >= '0' && c <= '9':
		end = i + 1
		for c := w.at(end); c >= '0' && c <= '9'; c = w.at(end) {
			end++
		}
		ok = true
		w.o.numbers = append(w.o.numbers, span{i, end})
	case c == 't' || c == 'n':
		end, ok = i+4, len(w.b) >= i+4
	case c == 'f':
		end, ok = i+5, len(w.b) >= i+5
	}
	w.o.values = append(w.o.values, span{i, end})
	return end, ok
}

func (w *outliner) str(i int) (int, bool) {
	for j := i + 1; j < len(w.b); j++ {
		switch w.b[j] {
		case '\\':
			j++
		case '"':
			return j + 1, true
		}
	}
	return 0, false
}

func (w *outliner) object(i, depth int) (int, bool) {
	for j := i + 1; ; j++ {
		if w.at(j) == '}' && j == i+1 {
			return j + 1, true
		}
		if w.at(j) != '"' {
			return 0, false
		}
		colon, ok := w.str(j)
		if !ok || w.at(colon) != ':' {
			return 0, false
		}
		end, ok := w.value(colon+1, depth+1)
		if !ok {
			return 0, false
		}
		w.o.members = append(w.o.members, member{span{j, colon}, span{j, end}})
		if w.at(end) == '}' {
			return end + 1, true
		}
		if w.at(end) != ',' {
			return 0, false
		}
		j = end
	}
}

func (w *outliner) array(i, depth int) (int, bool) {
	a := array{}
	for j := i + 1; ; j++ {
		if w.at(j) == ']' && j == i+1 {
			a.span = span{i, j + 1}
			w.o.arrays = append(w.o.arrays, a)
			return j + 1, true
		}
		end, ok := w.value(j, depth+1)
		if !ok {
			return 0, false
		}
		a.items = append(a.items, span{j, end})
		if w.at(end) == ']' {
			a.span = span{i, end + 1}
			w.o.arrays = append(w.o.arrays, a)
			return end + 1, true
		}
		if w.at(end) != ',' {
			return 0, false
		}
		j = end
	}
}
