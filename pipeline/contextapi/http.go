package contextapi

import (
	"net/http"
	"strconv"
)

// ServeHTTP answers as Answer does.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := h.Answer(r.Context(), Request{
		Method: r.Method, Path: r.URL.EscapedPath(), Query: r.URL.RawQuery + forced(r.URL.ForceQuery),
		Authorization: r.Header.Values("Authorization"), Body: r.ContentLength != 0,
	})
	a.Write(w)
}

// forced is what a bare "?" counts as: a query.
func forced(is bool) string {
	if is {
		return "?"
	}
	return ""
}

// Write sends the answer.
func (a Response) Write(w http.ResponseWriter) {
	for name, value := range a.Header {
		w.Header().Set(name, value)
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(a.Body)))
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body) // whoever asked may be gone
}
