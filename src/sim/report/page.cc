#include "sim/report/page.h"

#include "sim/report/text.h"

namespace fairlead::sim {
namespace {

constexpr const char* kStyle = R"css(
:root {
  color-scheme: light dark;
  --paper: #f6f7f9; --card: #ffffff; --ink: #17202b; --soft: #566273; --hair: #e3e7ec;
  --c1: #1f6feb; --c2: #c2570c; --c3: #0f8a6a; --c4: #8b46c9; --muted: #94a0ae; --rule: #b42318;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #0f1419; --card: #171d25; --ink: #e6ebf1; --soft: #9aa7b6; --hair: #2a333e;
    --c1: #6cb0ff; --c2: #ffa057; --c3: #4fd1a5; --c4: #c79bf2; --muted: #6b7886; --rule: #ff8a7a;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); line-height: 1.5;
       font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
main { max-width: 1180px; margin: 0 auto; padding: 36px 24px 56px; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 4px; letter-spacing: -0.01em; }
h2 { font-size: 1.06rem; margin: 0 0 4px; }
p { margin: 0 0 12px; color: var(--soft); max-width: 74ch; }
.subtitle { font-size: 1rem; margin-bottom: 22px; max-width: none; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px;
           margin: 0 0 20px; padding: 0; }
.figures div { background: var(--card); border: 1px solid var(--hair); border-radius: 10px;
               padding: 13px 16px; display: flex; flex-direction: column-reverse; }
.figures dd { margin: 0; font-size: 1.5rem; font-weight: 650; letter-spacing: -0.01em;
              font-variant-numeric: tabular-nums; }
.figures dt { color: var(--soft); font-size: .82rem; }
.sections { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 520px), 1fr));
            gap: 16px; align-items: start; }
section { background: var(--card); border: 1px solid var(--hair); border-radius: 10px;
          padding: 18px 20px 16px; min-width: 0; overflow-x: auto; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 18px; margin: 0 0 6px; padding: 0;
          list-style: none; font-size: .85rem; color: var(--soft); }
.legend li::before { content: ""; display: inline-block; width: 18px; height: 3px;
                     border-radius: 2px; margin-right: 7px; vertical-align: middle;
                     background: currentColor; }
.legend li.c1::before { background: var(--c1); } .legend li.c2::before { background: var(--c2); }
.legend li.c3::before { background: var(--c3); } .legend li.c4::before { background: var(--c4); }
.legend li.muted::before { background: var(--muted); }
.legend li.rule::before { background: var(--rule); }
svg { display: block; width: 100%; height: auto; font: 12px system-ui, -apple-system, "Segoe UI",
      Roboto, "Liberation Sans", sans-serif; font-variant-numeric: tabular-nums; }
svg text { fill: var(--soft); } svg .row { fill: var(--ink); }
.grid { stroke: var(--hair); } .axis { stroke: var(--muted); }
.line { fill: none; stroke-width: 2; stroke-linejoin: round; } .dashed { stroke-dasharray: 5 4; }
.area { stroke: none; opacity: .16; }
.range { stroke: var(--muted); stroke-width: 2; stroke-linecap: round; }
.rule { stroke: var(--rule); stroke-dasharray: 4 3; stroke-width: 1.5; }
.c1.line { stroke: var(--c1); } .c2.line { stroke: var(--c2); } .c3.line { stroke: var(--c3); }
.c4.line { stroke: var(--c4); } .muted.line { stroke: var(--muted); stroke-width: 1.5; }
.c1.area, .c1.dot, .c1.bar { fill: var(--c1); } .c2.area, .c2.dot, .c2.bar { fill: var(--c2); }
.c3.area, .c3.dot { fill: var(--c3); } .c4.area { fill: var(--c4); } .muted.area { fill: var(--muted); }
table { border-collapse: collapse; width: 100%; margin-top: 10px; font-size: .87rem;
        font-variant-numeric: tabular-nums; }
th { color: var(--soft); font-weight: 500; text-align: right; }
th, td { padding: 5px 8px; border-bottom: 1px solid var(--hair); white-space: nowrap; }
td { text-align: right; } tr:last-child td, tr:last-child th { border-bottom: 0; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
th:last-child, td:last-child { padding-right: 0; }
table.settings td { text-align: left; white-space: normal; overflow-wrap: anywhere; }
table.settings th { text-align: left; width: 30%; }
footer { margin-top: 22px; color: var(--soft); font-size: .82rem; }
@media print { body { background: #fff; } section { break-inside: avoid; } }
)css";

}  // namespace

Page::Page(std::string title, std::string subtitle) : title_(std::move(title)) {
  body_ = "<h1>" + escape_html(title_) + "</h1>\n<p class=\"subtitle\">" + escape_html(subtitle) +
          "</p>\n";
}

void Page::figures(const KeyValues& values_and_labels) {
  body_ += "<dl class=\"figures\">\n";
  for (const auto& [value, label] : values_and_labels) {
    body_ += "<div><dt>" + escape_html(label) + "</dt><dd>" + escape_html(value) + "</dd></div>\n";
  }
  body_ += "</dl>\n<div class=\"sections\">\n";
}

void Page::close_section() {
  if (open_) body_ += "</section>\n";
  open_ = false;
}

void Page::section(const std::string& heading, const std::string& text) {
  close_section();
  open_ = true;
  body_ += "<section>\n<h2>" + escape_html(heading) + "</h2>\n<p>" + escape_html(text) + "</p>\n";
}

void Page::legend(const KeyValues& class_and_label) {
  body_ += "<ul class=\"legend\">";
  for (const auto& [css, label] : class_and_label) {
    body_ += "<li class=\"" + css + "\">" + escape_html(label) + "</li>";
  }
  body_ += "</ul>\n";
}

void Page::chart(const std::string& svg) {
  body_ += svg;
}

void Page::table(const std::vector<std::string>& header,
                 const std::vector<std::vector<std::string>>& rows) {
  body_ += "<table><thead><tr>";
  for (const std::string& cell : header)
    body_ += "<th scope=\"col\">" + escape_html(cell) + "</th>";
  body_ += "</tr></thead><tbody>\n";
  for (const auto& row : rows) {
    body_ += "<tr>";
    for (const std::string& cell : row) body_ += "<td>" + escape_html(cell) + "</td>";
    body_ += "</tr>\n";
  }
  body_ += "</tbody></table>\n";
}

void Page::settings(const KeyValues& rows) {
  body_ += "<table class=\"settings\"><tbody>\n";
  for (const auto& [key, value] : rows) {
    body_ += "<tr><th scope=\"row\">" + escape_html(key) + "</th><td>" + escape_html(value) +
             "</td></tr>\n";
  }
  body_ += "</tbody></table>\n";
}

std::string Page::html() const {
  return "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
         escape_html(title_) + " · Fairlead</title>\n<style>" + kStyle +
         "</style>\n</head>\n<body>\n<main>\n" + body_ + (open_ ? "</section>\n" : "") +
         "</div>\n<footer>Made by fairlead simulate. The same command and seed give the same page."
         "</footer>\n</main>\n</body>\n</html>\n";
}

}  // namespace fairlead::sim
