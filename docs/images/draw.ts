/**
 * Draws docs/images/first-request.svg, the picture of the README: a terminal with the start of the demo node and its
 * response to the first request. Run with `bun run docs:picture`. It needs nothing but Bun; the node runs on free ports in a
 * temporary directory, and the picture shows the default ports.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");
const RESPONSE_LINES = 17;
const COLUMNS = 96;
const FONT_PX = 14;
/** Width of a character of the usual monospace fonts, in parts of the font size. */
const ADVANCE = 0.602;
const LINE_PX = 20;
const PADDING_PX = 20;
const TITLE_PX = 34;

interface Line {
  readonly text: string;
  readonly kind: "command" | "output" | "json" | "warning";
}

const dir = mkdtempSync(join(tmpdir(), "svc-picture-"));
const flags = ["--data-dir", `${dir}/data`, "--port", "0", "--set", "hub.port=-1", "--log-format", "pretty"];
const node = Bun.spawn([process.execPath, join(ROOT, "src/main.ts"), ...flags, "serve", "--demo"], {
  cwd: dir,
  env: { PATH: process.env.PATH ?? "", HOME: dir },
  stdout: "pipe",
  stderr: "pipe",
});
try {
  const banner = await readUntil(node.stdout, /^Try .*\n/m);
  const logs = await readUntil(node.stderr, /Opened the HTTP interface.*\n/);
  const base = new URL(/^API\s+(\S+)/m.exec(banner)?.[1] ?? "").origin;
  const response: unknown = await (await fetch(`${base}/v2/svc/user?fid=3`)).json();
  const shown = [logs, banner].map((text) =>
    text.replaceAll(base, "http://127.0.0.1:8080").replace(/^(gRPC\s+\S+:)\d+/m, "$13383"),
  );
  const lines: Line[] = [
    { kind: "command", text: "npx --yes bun@1.4.5 run start" },
    ...shown
      .flatMap(linesOf)
      .map((text) => ({ kind: / WARN /.test(text) ? "warning" : "output", text }) as const),
    { kind: "output", text: "" },
    { kind: "command", text: "curl 'http://127.0.0.1:8080/v2/svc/user?fid=3'" },
    ...linesOf(JSON.stringify(response, null, 2))
      .slice(0, RESPONSE_LINES)
      .map((text) => ({ kind: "json", text }) as const),
    { kind: "json", text: "    …" },
  ];
  const file = join(import.meta.dir, "first-request.svg");
  await Bun.write(file, draw(lines));
  console.log(`${file}  ${(Bun.file(file).size / 1024).toFixed(1)} KB`);
} finally {
  node.kill("SIGTERM");
  await node.exited;
  rmSync(dir, { recursive: true, force: true });
}

async function readUntil(stream: ReadableStream<Uint8Array>, end: RegExp): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true });
    if (end.test(text)) return text;
  }
  throw new Error(`the node ended: ${text}`);
}

function linesOf(text: string): string[] {
  return text.trimEnd().split("\n");
}

function draw(lines: readonly Line[]): string {
  const width = Math.ceil(COLUMNS * FONT_PX * ADVANCE) + 2 * PADDING_PX;
  const height = TITLE_PX + lines.length * LINE_PX + PADDING_PX;
  const rows = lines.map(
    (line, at) => `<text x="${PADDING_PX}" y="${TITLE_PX + (at + 1) * LINE_PX}">${coloured(line)}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<title>A terminal: the node starts over its demo network and returns a user</title>
<style>
text { font: ${FONT_PX}px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #d6deeb; white-space: pre }
.prompt { fill: #7fdbca } .command { fill: #ffffff; font-weight: bold } .faint { fill: #8794a6 } .warning { fill: #ecc48d }
.key { fill: #82aaff } .string { fill: #c3e88d } .number { fill: #f78c6c }
</style>
<rect width="${width}" height="${height}" rx="8" fill="#011627"/>
<g fill="#3b4f63"><circle cx="22" cy="18" r="6"/><circle cx="42" cy="18" r="6"/><circle cx="62" cy="18" r="6"/></g>
${rows.join("\n")}
</svg>
`;
}

function coloured({ kind, text }: Line): string {
  const cut = escaped(text.length > COLUMNS ? `${text.slice(0, COLUMNS - 1)}…` : text);
  if (kind === "command") return `${span("prompt", "$ ")}${span("command", cut)}`;
  if (kind === "warning") return span("warning", cut);
  if (kind === "output") return cut.replace(/^\d\d:\d\d:\S+ +\w+ /, (time) => span("faint", time));
  return cut
    .replace(/(: )(".*?")(,?)$/, (_, colon, value, comma) => `${colon}${span("string", value)}${comma}`)
    .replace(/(: )(\d+)(,?)$/, (_, colon, value, comma) => `${colon}${span("number", value)}${comma}`)
    .replace(/^( *)("\w+"):/, (_, indent, key) => `${indent}${span("key", key)}:`);
}

function span(name: string, text: string): string {
  return `<tspan class="${name}">${text}</tspan>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
