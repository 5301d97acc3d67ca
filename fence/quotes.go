package fence

import (
	"regexp"
	"strings"
)

// SplitQuotes separates the own words of a message from what it quotes, line by line. No byte is lost: own and the
// quotes hold every line of the text once, in order. Quoted are
//
//   - lines that start with > (after up to three blanks, in any spelling of the sign), with the line before them that
//     names whom they quote ("On …, … wrote:");
//   - from such a line on without > after it, everything: a mail program that does not mark the lines;
//   - everything from a separator of a mail thread on ("-----Original Message-----", "Begin forwarded message:", a
//     block of From, Sent or Date, and To or Subject);
//   - what stands between <blockquote> and </blockquote>.
//
// Where it errs it takes own words for a quote, never the reverse for these forms: the worst is a voice too short. Lines that
// follow a marked quote without a blank line between are own words, as in mail, not its continuation, as in Markdown.
func SplitQuotes(text string) (own string, quotes []string) {
	lines := strings.SplitAfter(text, "\n")
	quoted := make([]bool, len(lines))
	depth := 0 // of blockquote elements
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		lower := ""
		if depth > 0 || strings.Contains(line, "<") {
			lower = strings.ToLower(line)
		}
		switch {
		case depth > 0 || strings.Contains(lower, "<blockquote"):
			quoted[i] = true
			depth = max(0, depth+strings.Count(lower, "<blockquote")-strings.Count(lower, "</blockquote"))
		case isMarked(line):
			quoted[i] = true
		case attributionLen(lines[i:]) > 0:
			next := i + attributionLen(lines[i:])
			for j := i; j < next; j++ {
				quoted[j] = true
			}
			for next < len(lines) && trim(lines[next]) == "" {
				quoted[next] = true
				next++
			}
			if next < len(lines) && isMarked(lines[next]) {
				i = next - 1
				continue
			}
			return gather(lines, quoted, next)
		case isSeparator(trim(line)) || startsHeaders(lines[i:]):
			return gather(lines, quoted, i)
		}
	}
	return gather(lines, quoted, len(lines))
}

func trim(line string) string { return strings.TrimFunc(line, isSkipped) }

// isMarked reports whether a line starts with the sign of a quote.
func isMarked(line string) bool {
	rest := strings.TrimLeftFunc(line, isSkipped)
	for _, sign := range []string{">", "＞", "﹥", "&gt;"} {
		if strings.HasPrefix(rest, sign) {
			return true
		}
	}
	return false
}

// attribution matches the line that names whom a quote quotes, as the common mail programs write it. It needs a digit (of
// the date) or an address, so that "as she wrote:" in running text is none.
var attribution = regexp.MustCompile(`(?i)^(?:` +
	`(?:on|am|den|le|el|il|em|op|w dniu|dnia|på|på den)\s.{0,200}[0-9@].{0,200}\s(?:wrote|schrieb|skrev|a écrit|escribió|ha scritto|escreveu|schreef|napisał|napisał\(a\))(?:\s.{0,100})?\s?[:：]` +
	`|.{0,200}[0-9@].{0,200}(?:写道|寫道|написал|написала|пишет|のメール|님이 작성)\s?[:：]` +
	`|.{0,200}[0-9].{0,200}<[^<>@\s]{1,100}@[^<>@\s]{1,100}>\s?[:：]` +
	`|در .{0,200}[0-9۰-۹@].{0,200}نوشت\s?[:：]` +
	`)$`)

// isAttribution matches only what has a digit or an address, which most lines lack.
func isAttribution(line string) bool {
	return strings.ContainsAny(line, "0123456789@۰۱۲۳۴۵۶۷۸۹") && attribution.MatchString(line)
}

// attributionLen gives how many lines, one or two, an attribution at the start of lines takes; 0 where there is none.
func attributionLen(lines []string) int {
	const longest = 1024 // bytes of an attribution
	first := trim(lines[0])
	switch {
	case first == "" || len(first) > longest:
		return 0
	case endsInColon(first):
		if isAttribution(first) {
			return 1
		}
	case len(lines) > 1 && len(lines[1]) <= longest:
		second := trim(lines[1])
		if endsInColon(second) && !isAttribution(second) && isAttribution(first+" "+second) {
			return 2
		}
	}
	return 0
}

func endsInColon(line string) bool {
	return strings.HasSuffix(line, ":") || strings.HasSuffix(line, "：")
}

// separator matches the lines after which a mail program puts the mail that is answered or passed on.
var separator = regexp.MustCompile(`(?i)^(?:` +
	`-{2,}\s?(?:original message|forwarded message|ursprüngliche nachricht|weitergeleitete nachricht|message d'origine|message transféré|mensaje original|messaggio originale|oorspronkelijk bericht|исходное сообщение|原始邮件|原始郵件|元のメッセージ|پیام اصلی)\s?-{2,}` +
	`|begin forwarded message:` +
	`)$`)

// isSeparator matches only what begins as a separator does.
func isSeparator(line string) bool {
	return line != "" && (line[0] == '-' || line[0] == 'b' || line[0] == 'B') && separator.MatchString(line)
}

var (
	fromHeader = regexp.MustCompile(`(?i)^\*?(?:from|von|de|da|van|från|fra|od|от|发件人|寄件者|差出人|از)\s?[:：]`)
	dateHeader = regexp.MustCompile(`(?i)^\*?(?:sent|date|gesendet|datum|envoyé|enviado|fecha|data|inviato|verzonden|skickat|wysłano|отправлено|дата|发送时间|日期|送信日時|تاریخ)\s?[:：]`)
	toHeader   = regexp.MustCompile(`(?i)^\*?(?:to|subject|an|betreff|à|objet|para|asunto|assunto|a|oggetto|aan|onderwerp|till|ämne|do|temat|кому|тема|收件人|主题|主旨|宛先|件名|به|موضوع)\s?[:：]`)
)

// startsHeaders reports whether lines start with the headers of a mail: From, then within four lines a date and a
// receiver or subject.
func startsHeaders(lines []string) bool {
	if first := lines[0]; !strings.Contains(first, ":") && !strings.Contains(first, "：") || !fromHeader.MatchString(trim(first)) {
		return false
	}
	date, to := false, false
	for _, line := range lines[1:min(len(lines), 5)] {
		date = date || dateHeader.MatchString(trim(line))
		to = to || toHeader.MatchString(trim(line))
	}
	return date && to
}

// gather joins the lines: quoted ones, and all from rest on, in runs; the others as own.
func gather(lines []string, quoted []bool, rest int) (own string, quotes []string) {
	var mine, theirs strings.Builder
	for i, line := range lines {
		if i >= rest || quoted[i] {
			theirs.WriteString(line)
			continue
		}
		if theirs.Len() > 0 {
			quotes = append(quotes, theirs.String())
			theirs.Reset()
		}
		mine.WriteString(line)
	}
	if theirs.Len() > 0 {
		quotes = append(quotes, theirs.String())
	}
	return mine.String(), quotes
}
