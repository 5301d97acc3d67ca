package intake

import (
	"decant.dev/extract/rules"
	"decant.dev/fence"
	"decant.dev/recipes/issues"
)

// Rules is the default extractor of the issues recipe: no model, and every decision has the name of a rule below. Weights
// are tenths of a bit; they are set by hand, coarsely, from what issue trackers have in common, for no project in
// particular. A command "/triage bug severity:2 area:build" by a person who holds trigger overrides them.
func Rules() *rules.Extractor {
	return rules.Must(issues.Recipe.Shape(), rules.Set{
		Sources: []rules.Source{
			{Origin: fence.OriginRecordField, Field: "title", Title: true},
			{Origin: fence.OriginRecordField, Field: "body"},
			{Origin: fence.OriginMessage},
		},
		Tokens:  []rules.Token{version},
		Quotes:  []rules.Quotation{quote},
		Choices: []rules.Choice{kind, severity, reproducible},
		Subsets: []rules.Subset{areas, missing},
		Commands: []rules.Command{{Name: "/triage", Keys: map[string]string{
			"area": "areas", "repro": "reproducible",
		}}},
	})
}

// others are what a version is often of instead of the project.
var others = []string{
	"os", "ubuntu", "debian", "fedora", "centos", "alpine", "linux", "kernel", "windows", "macos", "osx", "os x", "android", "ios",
	"iphone", "python", "node*", "npm", "yarn", "java", "jdk", "gcc", "g++", "clang", "glibc", "cmake", "bazel", "cuda", "cudnn",
	"compiler", "driver*", "gpu", "browser*", "chrome", "chromium", "firefox", "safari", "edge", "electron", "v8", "qt", "boost",
	"visual studio", "license", "mib", "gib", "http", "tls", "ip", "port", "libc*",
}

var version = rules.Token{Field: "version", Rules: []rules.TokenRule{
	{ID: "version.labelled", Where: rules.Text | rules.Code | rules.Inline, Confidence: 90, Semver: true, Unlike: others,
		Near: []string{"version*", "release*", "versión", "versão", "バージョン", "版本", "версия", "نسخه"}},
	{ID: "version.title", Where: rules.Title, Confidence: 80, Semver: true, Unlike: others},
	{ID: "version.full", Where: rules.Heading | rules.Prose | rules.Inline, Confidence: 60, Semver: true, Parts: 3, Unlike: others},
}}

var quote = rules.Quotation{Field: "quote", Rules: []rules.Sentence{
	{ID: "quote.prose", Where: rules.Prose, Min: 24},
	{ID: "quote.title", Where: rules.Title, Min: 1},
}}

var kind = rules.Choice{Field: "kind", Default: "question", Threshold: 6, Rules: []rules.Rule{
	rules.Weigh("bug.declared", "bug", 8, rules.Text, rules.Any(
		rules.Answer([]string{"type", "kind"}, "bug"),
		rules.Pattern(`(type|kind): *(bug|defect)\b`, "type", "kind"))),
	rules.Weigh("bug.title.named", "bug", 40, rules.Title, rules.Any(
		rules.Pattern(`^\W*(\w+ )?(bug|regression|crash|fix(es|ed)?)\b[\]):]*`), rules.Words("regression", "bug", "fix", "fixes", "fixed", "hotfix"))),
	rules.Weigh("bug.title.crash", "bug", 28, rules.Title, rules.Words(
		"crash*", "segfault*", "segmentation fault", "panic*", "abort*", "core dumped", "hang*", "freez*", "deadlock*", "leak*", "overflow*",
		"out of bounds", "race condition", "intermittent*", "assertion", "check failed", "corrupt*", "absturz", "plante", "崩溃", "クラッシュ")),
	rules.Weigh("bug.title.wrong", "bug", 14, rules.Title, rules.Words(
		"wrong*", "incorrect*", "broken", "breaks", "fails", "failing", "failure*", "inconsistent*", "unexpected*", "missing", "cannot", "lost",
		"not found", "could not", "invalid", "duplicat*", "ignored", "disappear*", "flicker*", "stuck", "no longer", "does not", "not respected",
		"not updat*", "wrongly", "after", "when", "isn't", "aren't", "don't", "is not", "are not", "not showing", "should not", "shouldn't", "misses", "lacks", "bad",
		"confusing", "overlap*", "truncated", "off by one", "fehler", "falla", "не работает", "错误")),
	rules.Weigh("bug.title.error", "bug", 8, rules.Title, rules.Words("error*", "exception*", "failed", "doesn't", "not work*", "warning*")),
	rules.Weigh("bug.form", "bug", 10, rules.Heading, rules.Words(
		"actual behavio*", "actual result*", "what happened", "repro steps", "reproduction steps", "error message*", "stack trace", "call stack",
		"how often*", "current behavior", "describe the bug")),
	rules.Weigh("bug.steps", "bug", 6, rules.Text, rules.Any(
		rules.Section("steps to reproduce", "repro steps", "reproduc*", "to reproduce"), rules.Words("steps to reproduce", "repro steps"))),
	rules.Weigh("bug.trace", "bug", 12, rules.Code, rules.Has(rules.StackTrace)),
	rules.Weigh("bug.says", "bug", 14, rules.Opening, rules.Words(
		"crash*", "regression", "segfault*", "used to work", "worked in", "no longer", "is broken", "this is a bug", "incorrect*", "wrong*",
		"stopped working", "unexpectedly", "memory leak", "undefined behavio*", "fixes", "sanitizer", "every time", "due to")),
	rules.Weigh("bug.shown", "bug", 8, rules.Prose, rules.All(rules.Has(rules.Image), rules.Not(rules.Has(rules.Asks)))),
	rules.Weigh("bug.marked", "bug", 20, rules.Text, rules.Words("🐛", "🐞", ":bug:")),
	rules.Weigh("bug.not-asked", "bug", 3, rules.Title, rules.Not(rules.Any(rules.Has(rules.AsksTitle), rules.Has(rules.Asks)))),

	rules.Weigh("feature.declared", "feature", 30, rules.Text, rules.Any(
		rules.Answer([]string{"type", "kind"}, "feature request", "feature", "enhancement"),
		rules.Pattern(`(type|kind): *(feature|enhancement)`, "type", "kind"))),
	rules.Weigh("feature.title.named", "feature", 40, rules.Title, rules.Any(
		rules.Pattern(`^\W*(\w+ )?(feature|enhancement|proposal|rfc|suggestion|idea|wish)\b`),
		rules.Words("feature request*", "wishlist", "功能", "新增", "機能追加"))),
	rules.Weigh("feature.title.verb", "feature", 26, rules.Title, rules.Any(
		rules.Pattern(`^(\[[^\]]*\]|[\w/.-]+:|)\W*(add(ed|ing|s)?|support\w*|allow\w*|provide|implement\w*|enable|introduce|improve\w*|extend|expose|make|include|consider|update|remove|replace|refactor\w*|migrate|adopt|option|optimi[sz]e|ability|suggest\w*|request\w*)\b`),
		rules.Words("add support", "support for", "should", "add option*", "an option", "ability to", "way to", "please add", "would be", "allow*", "more", "setting for"))),
	rules.Weigh("feature.title.touch", "feature", 10, rules.Title, rules.Words(
		"support*", "add", "option*", "new", "instead of", "improve*", "better", "custom*", "provide*", "api")),
	rules.Weigh("feature.form", "feature", 34, rules.Heading, rules.Words(
		"describe the solution*", "solution you'd like", "alternatives*", "feature and motivation", "describe the feature", "feature request",
		"who will benefit*", "related to a problem", "motivation", "use case*", "proposed solution", "proposal", "change the current api")),
	rules.Weigh("feature.says", "feature", 14, rules.Prose, rules.Words(
		"would be nice", "would be great", "would be useful", "would be helpful", "it would be", "feature request", "would love", "i propose", "i suggest",
		"please add", "please support", "should support", "should be able to", "would like to see", "would be good", "i'd like to be able",
		"add support", "this pr", "this patch", "motivation", "it'd be", "nice to have", "enhancement", "proposed", "wäre schön", "希望", "would allow",
		"will allow", "proposal")),
	rules.Weigh("feature.opening", "feature", 6, rules.Opening, rules.Words(
		"could", "allow*", "add", "support*", "would", "we should", "new", "useful", "option", "currently", "instead")),
	rules.Weigh("feature.bugform", "feature", -6, rules.Heading, rules.Section("steps to reproduce", "actual behavio*", "repro steps")),
	rules.Weigh("feature.trace", "feature", -8, rules.Code, rules.Has(rules.StackTrace)),

	rules.Weigh("question.declared", "question", 30, rules.Text, rules.Any(
		rules.Answer([]string{"type", "kind"}, "support", "question", "others"),
		rules.Pattern(`(type|kind): *(question|support|performance issue)`, "type", "kind"))),
	rules.Weigh("question.title.named", "question", 34, rules.Title, rules.Any(
		rules.Pattern(`^\W*(question|help|how|why|what|where|which|who|can i|can we|is it|is there|is this|are there|does|do|any)\b`),
		rules.Words("how to", "how do*", "how can", "question", "need help", "help me", "help needed", "please help", "frage", "pregunta", "怎么", "如何", "请问", "质問", "cómo", "comment faire", "как"))),
	rules.Weigh("question.title.mark", "question", 16, rules.Title, rules.Has(rules.AsksTitle)),
	rules.Weigh("question.title.stuck", "question", 12, rules.Title, rules.Any(
		rules.Pattern(`\bi\b`), rules.Words(
			"can't", "can not", "unable", "unable to", "my", "compil*", "not working", "about", "using", "install*", "difference between",
			"problem*", "issue*", "trouble", "app", "working", "get", "run"))),
	rules.Weigh("question.asks", "question", 14, rules.Prose, rules.Words(
		"how do i", "how can i", "how to", "how should", "is there a way", "is there any way", "any idea*", "can anyone", "can someone", "could someone",
		"could you", "can you", "what am i", "am i doing", "i wonder", "i'm wondering", "wondering", "help me", "any help", "i don't understand", "is it possible",
		"why is", "why does", "not sure", "i would like to know", "please help", "i want to know", "what should i", "looking for", "my question")),
	rules.Weigh("question.self", "question", 13, rules.Opening, rules.Words(
		"i am", "i'm", "i have", "i want", "i tried", "trying to", "my", "i was", "i installed", "i get", "i need", "i got", "hello", "thanks", "help", "when i")),
	rules.Weigh("question.thanks", "question", 9, rules.Prose, rules.Words(
		"thanks", "thank you", "hello", "hey", "regards", "sorry", "newbie", "beginner", "i'm new", "i am new", "stack overflow", "tutorial*", "please", "danke", "merci", "gracias", "谢谢")),
	rules.Weigh("question.patch", "question", -20, rules.Prose, rules.Words("this pr", "pull request", "this patch", "i propose")),
	rules.Weigh("question.checked", "question", -8, rules.Prose, rules.Has(rules.Checklist)),

	rules.Weigh("spam.offer", "spam", 40, rules.Text, rules.Words(
		"buy now", "best price*", "discount code*", "promo code*", "coupon code*", "order now", "free shipping", "limited offer", "limited time offer",
		"earn money", "make money", "100% free", "visit our website", "visit my website", "check out my site", "toll free",
		"customer care number", "customer service number", "support phone number", "whatsapp number", "online casino*", "sports betting",
		"seo service*", "buy backlinks", "guest posting", "crypto recovery", "recover your funds", "investment platform", "loan offer*", "essay writing",
		"watch online free", "mod apk", "free followers", "followers for free", "gift card generator", "代开", "发票", "博彩", "赌场")),
	rules.Weigh("spam.word", "spam", 12, rules.Title|rules.Opening, rules.Words(
		"casino", "betting", "viagra", "cialis", "escorts", "backlinks", "airdrop", "coupon*", "full movie", "call now", "click here", "cheap", "discount*", "guaranteed")),
	rules.Weigh("spam.contact", "spam", 24, rules.Prose, rules.Words(
		"contact us on", "contact us at", "whatsapp us", "dm me on telegram", "telegram @*", "join our telegram", "call us at", "text us", "our services", "our company offers")),
	rules.Weigh("spam.code", "spam", -30, rules.Code, rules.Any(rules.Has(rules.CodeBlock), rules.Has(rules.StackTrace))),
}}

var severity = rules.Choice{Field: "severity", Default: "1", Threshold: 6, Rules: []rules.Rule{
	rules.Weigh("severity.loss", "3", 30, rules.Text, rules.Words(
		"data loss", "lost data", "lost all", "loses data", "lose data", "lost my", "corrupts", "data corruption", "database corruption", "file corruption",
		"overwrites my", "deletes all", "deleted all", "loss of funds", "stolen", "datenverlust", "数据丢失")),
	rules.Weigh("severity.security", "3", 30, rules.Text, rules.Words(
		"vulnerability", "vulnerabilities", "remote code execution", "rce", "xss", "sql injection", "privilege escalation", "exploit*", "cve-*",
		"arbitrary code", "use-after-free", "use after free", "heap-buffer-overflow", "buffer overflow", "denial of service", "leaks credentials")),
	rules.Weigh("severity.everyone", "3", 26, rules.Text, rules.Words(
		"all users", "every user", "for everyone", "production down", "outage", "completely unusable", "unusable", "blocks the release", "cannot start", "won't start",
		"doesn't start", "does not start", "fails to start", "unable to start", "crashes on startup", "crash on startup", "crashes at startup")),
	rules.Weigh("severity.crash", "2", 22, rules.Text, rules.Words(
		"crash*", "segfault*", "segmentation fault", "panics", "core dumped", "aborts", "aborted", "hangs", "freezes", "deadlock*", "memory leak*",
		"out of memory", "oom", "absturz", "崩溃", "クラッシュ")),
	rules.Weigh("severity.broken", "2", 12, rules.Text, rules.Words(
		"regression", "no longer works", "stopped working", "does not work", "doesn't work", "not working", "broken", "fails", "failed", "failure", "cannot",
		"can't", "unable to", "incorrect result*", "wrong result*", "exception", "fatal", "blocker", "critical")),
	rules.Weigh("severity.trace", "2", 10, rules.Code, rules.Has(rules.StackTrace)),
	rules.Weigh("severity.workaround", "1", 8, rules.Text, rules.Words("workaround", "work around", "as a workaround", "sometimes", "slow*", "annoying", "inconvenient")),
	rules.Weigh("severity.cosmetic", "0", 24, rules.Title|rules.Heading|rules.Opening, rules.Words(
		"typo*", "spelling", "cosmetic", "misaligned", "alignment", "padding", "color*", "colour*", "icon*", "font*", "wording", "tooltip*", "grammar", "broken link*", "dead link*",
		"deprecation warning*", "compiler warning*", "whitespace")),
	rules.Weigh("severity.wish", "0", 16, rules.Text, rules.All(rules.Is("kind", "feature"), rules.Words(
		"would be nice", "nice to have", "minor", "small improvement", "cleanup", "clean up", "refactor*", "docs", "documentation", "rename*"))),
	rules.Weigh("severity.ask", "0", 14, rules.Text, rules.Any(
		rules.Is("kind", "spam"), rules.All(rules.Is("kind", "question"), rules.Has(rules.AsksTitle)))),
}}

var reproducible = rules.Choice{Field: "reproducible", Default: "unknown", Threshold: 8, Rules: []rules.Rule{
	rules.Weigh("repro.steps", "yes", 14, rules.Text, rules.Any(
		rules.Section("steps to reproduce", "repro steps", "reproduction*", "to reproduce", "how to reproduce", "code to reproduce"), rules.Has(rules.NumberedList))),
	rules.Weigh("repro.always", "yes", 20, rules.Text, rules.Words(
		"every time", "always", "100%", "consistently", "reliably", "reproducible", "can reproduce", "can be reproduced", "easily reproduced", "reproduces", "each time", "immer", "每次")),
	rules.Weigh("repro.minimal", "yes", 16, rules.Text, rules.Words(
		"minimal repro*", "minimal example", "minimal reproducible*", "mwe", "mcve", "reproducer", "codesandbox", "repro repo*", "test case", "sample project")),
	rules.Weigh("repro.asked", "yes", 12, rules.Text, rules.Answer([]string{"reproduce", "reproduced"}, "yes")),
	rules.Weigh("repro.sometimes", "no", 26, rules.Text, rules.Words(
		"intermittent*", "sometimes", "randomly", "occasionally", "sporadic*", "once in a while", "flaky", "from time to time", "rarely", "not always", "manchmal")),
	rules.Weigh("repro.cannot", "no", 36, rules.Text, rules.Words(
		"cannot reproduce", "can't reproduce", "can not reproduce", "could not reproduce", "couldn't reproduce", "unable to reproduce", "not reproducible",
		"hard to reproduce", "difficult to reproduce", "cannot be reproduced", "don't know how to reproduce", "only once", "only happened once", "not sure how to reproduce")),
}}

var areas = rules.Subset{Field: "areas", Threshold: 14, Rules: []rules.Rule{
	rules.Weigh("area.build", "build", 20, rules.Title|rules.Heading, rules.Words(
		"build*", "compil*", "cmake*", "makefile*", "bazel", "gradle", "webpack", "install*", "linker", "linking", "msvc", "gcc", "clang", "packag*", "docker*", "ci", "cross-compil*", "configure", "undefined reference*")),
	rules.Weigh("area.build.says", "build", 14, rules.Opening, rules.Words(
		"build from source", "building from source", "failed to build", "build fails", "build error*", "compile error*", "compilation error*", "fails to compile",
		"pip install", "npm install", "cmake", "undefined reference*", "when compiling", "when building", "linker error*", "build failed", "to compile", "to build")),
	rules.Weigh("area.docs", "docs", 24, rules.Title, rules.Words(
		"doc", "docs", "documentation", "docstring*", "readme*", "typo*", "tutorial*", "guide", "manual", "example in the docs", "文档", "ドキュメント")),
	rules.Weigh("area.docs.says", "docs", 16, rules.Opening, rules.Words(
		"documentation", "the docs", "docs say", "documented", "undocumented", "readme", "the tutorial", "doc page", "broken link*", "typo*")),
	rules.Weigh("area.ui", "ui", 20, rules.Title, rules.Words(
		"ui", "ux", "gui", "button*", "dialog*", "menu*", "window*", "tooltip*", "theme*", "icon*", "font*", "layout*", "scroll*", "cursor", "dark mode", "color*", "colour*", "css", "editor",
		"sidebar", "panel*", "tab", "tabs", "accessib*", "screen reader*", "keyboard", "click*", "hover*", "display*", "notebook*", "terminal", "view", "界面")),
	rules.Weigh("area.ui.says", "ui", 14, rules.Opening, rules.Words(
		"button*", "dialog*", "context menu", "dropdown*", "tooltip*", "sidebar", "user interface", "gui", "scrollbar*", "hover*", "screen reader*", "pop-up*", "popup*", "color theme*", "dark mode", "right click*", "mouse")),
	rules.Weigh("area.api", "api", 18, rules.Title, rules.Words(
		"api", "apis", "rpc", "endpoint*", "method*", "function*", "parameter*", "argument*", "signature*", "interface*", "hook*", "callback*", "class", "bindings", "deprecat*", "type error", "typeerror", "json-rpc", "rest", "library")),
	rules.Weigh("area.api.says", "api", 14, rules.Opening, rules.Words("public api", "the api", "new api", "api call*", "rpc", "endpoint*", "return type*", "return value*", "function signature*", "breaking change*", "deprecated")),
	rules.Weigh("area.performance", "performance", 26, rules.Title, rules.Words(
		"performance", "slow*", "speed*", "latency", "memory leak*", "leak*", "memory usage", "cpu usage", "high cpu", "oom", "out of memory", "fast*", "optimi*", "throughput", "hang*", "freez*", "性能", "langsam")),
	rules.Weigh("area.performance.says", "performance", 16, rules.Opening, rules.Words(
		"very slow", "too slow", "slower", "slows down", "performance", "memory leak*", "memory usage", "cpu usage", "100% cpu", "out of memory", "takes forever", "faster", "bottleneck*")),
	rules.Weigh("area.security", "security", 30, rules.Title|rules.Opening, rules.Words(
		"security", "vulnerab*", "cve-*", "exploit*", "xss", "csrf", "injection", "privilege escalation", "encrypt*", "certificate*", "credential*", "password*", "untrusted", "permission denied", "heap-buffer-overflow",
		"buffer overflow", "use-after-free", "sandbox escape", "malicious", "attacker*")),
}}

var missing = rules.Subset{Field: "missing", When: rules.Is("kind", "bug"), Rules: []rules.Rule{
	rules.Weigh("missing.version", "version", 10, rules.Text, rules.Not(rules.Any(
		rules.Found("version"), rules.Words("nightly", "latest", "master", "main branch", "commit", "head"), rules.Section("version*")))),
	rules.Weigh("missing.steps", "steps", 10, rules.Text|rules.Link, rules.Not(rules.Any(
		rules.Section("step*", "repro*", "to reproduce", "reproduc*"), rules.Has(rules.NumberedList), rules.Has(rules.CodeBlock),
		rules.Words("steps to reproduce", "to reproduce", "reproducer", "repro", "codesandbox*", "jsfiddle*", "when i", "if i")))),
	rules.Weigh("missing.expected", "expected", 10, rules.Text, rules.Not(rules.Any(
		rules.Section("expect*", "correct behavio*"), rules.Words("expected", "expect", "should", "supposed to", "ought to", "instead of", "i'd expect")))),
	rules.Weigh("missing.logs", "logs", 10, rules.Text, rules.Not(rules.Any(
		rules.Has(rules.StackTrace), rules.Has(rules.Image), rules.Section("log*", "error*", "output", "stack trace", "call stack", "traceback", "console*"),
		rules.All(rules.Has(rules.CodeBlock), rules.Words("error*", "exception*", "output", "log", "logs", "warning*"))))),
}}
