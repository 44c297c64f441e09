import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createProgram } from "../../src/cli/program.ts";
import { allCommands, commandTree, knownValues } from "../../src/cli/shell/command-tree.ts";
import { bashCompletion, fishCompletion, zshCompletion } from "../../src/cli/shell/completion.ts";
import { configSchema } from "../../src/config/schema.ts";
import { SCOPES } from "../../src/http/caller.ts";
import { eventKinds } from "../../src/webhooks/subscription-schema.ts";
import { run } from "./run.ts";

const tree = commandTree(createProgram().program);
const bash = bashCompletion("svc", tree);

/** Lets a real bash complete the last word. */
function complete(...words: string[]): string[] {
  const script = `${bash}
COMP_WORDS=(svc "$@"); COMP_CWORD=$#; _svc; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr, exitCode } = Bun.spawnSync(["bash", "-c", script, "bash", ...words]);
  expect({ exitCode, errors: stderr.toString() }).toEqual({ exitCode: 0, errors: "" });
  return stdout.toString().split("\n").filter(Boolean);
}

describe("the completion of bash", () => {
  test("completes commands, and those of a group", () => {
    expect(complete("ser")).toEqual(["serve"]);
    expect(complete("app", "cr")).toEqual(["create"]);
    expect(complete("--data-dir", "/tmp", "webhook", "rep")).toEqual([
      "replay",
      "replay-status",
      "replay-cancel",
    ]);
  });

  test("completes options of the command and of the program", () => {
    expect(complete("serve", "--de")).toEqual(["--demo"]);
    expect(complete("app", "create", "--app-u")).toEqual(["--app-url"]);
    expect(complete("app", "create", "--data")).toEqual(["--data-dir"]);
  });

  test("completes choices and files, and nothing for a free value", () => {
    expect(complete("--log-format", "pre")).toEqual(["pretty"]);
    expect(complete("serve", "--log-level", "w")).toEqual(["warn"]);
    expect(complete("webhook", "create", "--on", "cast.c")).toEqual(["cast.created"]);
    expect(complete("webhook", "create", "--on", "cast.created,follow.d")).toEqual([
      "cast.created,follow.deleted",
    ]);
    expect(complete("serve", "--port", "8")).toEqual([]);
    expect(complete("completion", "f")).toEqual(["fish"]);
    expect(complete("app", "list", "--key-file", "package.js")).toEqual(["package.json"]);
    expect(complete("app", "list", "--fid", "")).toEqual([]);
  });

  test("completes names of files with spaces and wildcards, and values after =", () => {
    const dir = mkdtempSync(join(tmpdir(), "svc-completion-"));
    try {
      for (const name of ["a b.key", "a*.key"]) writeFileSync(join(dir, name), "");
      const found = ["a b.key", "a*.key"].map((name) => join(dir, name));
      for (const words of [["--key-file"], ["--key-file", "="]])
        expect(complete("app", "list", ...words, `${dir}/a`).sort()).toEqual(found.sort());
      expect(complete("import", `${dir}/a`).sort()).toEqual(found.sort());
      expect(complete("demo-client", "--answer", "=", "rate")).toEqual(["rate-limited"]);
      expect(complete("demo-client", "--answer", "=")).toContain("success");
      expect(complete("--log-format", "=")).toEqual(["json", "pretty"]);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });

  test("never evaluates what was typed", () => {
    expect(complete("$(touch /tmp/never)", "`id`", "")).not.toContain("uid=0");
  });
});

test("every shell has every command, and no hidden one", () => {
  const scripts = { bash, zsh: zshCompletion("svc", tree), fish: fishCompletion("svc", tree) };
  for (const text of Object.values(scripts)) {
    for (const { path } of allCommands(tree).slice(1)) expect(text).toContain(path.at(-1) ?? "");
    expect(text).not.toContain("database-task");
  }
});

test.each(["zsh", "fish"])(
  "the script of %s has no syntax error, where that shell is installed",
  async (shell) => {
    const path = Bun.which(shell);
    if (path === null) return;
    const script = (await run(["completion", shell])).out;
    const child = Bun.spawn([path, "-n"], { stdin: new Blob([script]), stderr: "pipe" });
    expect(await new Response(child.stderr).text()).toBe("");
  },
);

const fish = Bun.which("fish");
test.skipIf(fish === null)("fish completes commands and options", async () => {
  const script = (await run(["completion", "fish"])).out;
  const lines = [
    "--data-dir /tmp app cr",
    "app create --app-u",
    "--log-level w",
    "webhook create --on cast.created,user.u",
  ];
  const asked = lines.map((line) => `complete -C "svc ${line}"`).join("; ");
  const child = Bun.spawn([fish ?? "", "--no-config"], {
    stdin: new Blob([`${script}\n${asked}\n`]),
    stdout: "pipe",
  });
  expect((await new Response(child.stdout).text()).split("\n")).toEqual([
    "create\tregister a mini app",
    "--app-url\tcanonical https URL of the mini app",
    expect.stringMatching(/^warn\b/),
    expect.stringMatching(/^cast.created,user.updated\b/),
    "",
  ]);
});

const zsh = Bun.which("zsh");
/** Completes lines in a terminal of its own, and writes what it is offered to a file. */
const ZSH_SESSION = `
zmodload zsh/zpty
zpty session zsh -f -i
zpty -w session "source $1"
zpty -w -n session $'\\x14'
while zpty -t session; do zpty -r session _ > /dev/null; done`;
const zshScript = (dir: string, lines: readonly string[]) => `
fpath=(${dir} $fpath); autoload -Uz compinit; compinit -D -u
compadd() {
  local -a found
  if [[ "$*" != *" -"[ADO]" "* ]]; then builtin compadd -O found "$@"; print -l -- $found >> ${dir}/offered; fi
  builtin compadd "$@"
}
offer() {
  for BUFFER in ${lines.map((line) => `"svc ${line}"`).join(" ")}; do
    CURSOR=$#BUFFER; print -- "> $BUFFER" >> ${dir}/offered; zle complete-word
  done
  exit
}
zle -N offer; bindkey '^T' offer
`;
test.skipIf(zsh === null)(
  "zsh completes commands, options and values, after options with values",
  async () => {
    const dir = mkdtempSync(join(tmpdir(), "svc-zsh-"));
    try {
      writeFileSync(join(dir, "_svc"), zshCompletion("svc", tree));
      const offered: Record<string, string> = {
        "app cr": "create",
        "--data-dir /tmp app cr": "create",
        "--data-dir=/tmp app cr": "create",
        "app --data-dir /tmp cr": "create",
        "app create --data-dir /tmp --app-u": "--app-url",
        "serve --log-level w": "warn",
        "--log-format=p": "pretty",
        "webhook create --on cast.created,user.u": "user.updated",
      };
      writeFileSync(join(dir, "start"), zshScript(dir, Object.keys(offered)));
      const child = Bun.spawn([zsh ?? "", "-f", "-c", ZSH_SESSION, "zsh", join(dir, "start")]);
      await child.exited;
      const text = await Bun.file(join(dir, "offered")).text();
      const found = text
        .split("> svc ")
        .slice(1)
        .map((part) => part.trim().split("\n"));
      expect(Object.fromEntries(found.map(([line, ...words]) => [line, words.join(" ")]))).toEqual(offered);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  },
);

test("the values that shells complete are those that the program takes", () => {
  const { level, format } = configSchema.properties.log.properties;
  const literals = (schema: { anyOf: { const: unknown }[] }) => schema.anyOf.map((one) => one.const);
  expect(knownValues("--log-level")?.words).toEqual(literals(level) as string[]);
  expect(knownValues("--log-format")?.words).toEqual(literals(format) as string[]);
  expect(knownValues("--on")?.words).toEqual(eventKinds.map(({ kind }) => kind));
  expect(knownValues("--scopes")?.words).toEqual([...SCOPES]);
});

describe("the manual page", () => {
  const groff = Bun.which("groff");
  test("has every command with its options", async () => {
    const { out, exitCode } = await run(["manpage", "--date", "2026-11-22"]);
    expect(exitCode).toBe(0);
    for (const { path, options } of allCommands(tree).slice(1)) {
      expect(out).toContain(`.SS "svc ${path.join(" ").replaceAll("-", "\\-")}`);
      for (const { flags } of options) expect(out).toContain(flags.replaceAll("-", "\\-"));
    }
  });

  test.skipIf(groff === null)("is set by groff without a warning", async () => {
    const { out } = await run(["manpage"]);
    const child = Bun.spawn([groff ?? "", "-ww", "-man", "-Tutf8"], {
      stdin: new Blob([out]),
      stdout: "pipe",
      stderr: "pipe",
    });
    const [text, errors] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    expect(errors).toBe("");
    expect(text).toContain("svc webhook replay");
  });
});
