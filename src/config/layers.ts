import { resolve } from "node:path";
import { reasonOf } from "../lib/failure.ts";
import type { FileFacts } from "./files/small-file.ts";
import { ENV_PREFIX } from "./names.ts";
import { findSetting, type Setting, sectionNames } from "./settings/settings.ts";
import { FORM_OF_SET, noSuchSection, noSuchSetting, shownSet } from "./settings/unknown-names.ts";
import { parseText } from "./values.ts";

/** A key with this suffix names a file that contains the value. */
const FILE_END = "_file";
const MAX_SEARCHED_LINES = 2000;
/** Kubernetes sets these variables in every pod if there is a Service with the program's name. They are not settings. */
const KUBERNETES_SERVICE_LINK = /^SVC_SERVICE_(HOST|PORT(_.+)?)$/;

/** The flags for settings, as the command line parser names them. */
export interface ArgvFlags {
  readonly config?: string;
  readonly dataDir?: string;
  readonly host?: string;
  readonly port?: string;
  readonly logLevel?: string;
  readonly logFormat?: string;
  /** Each is `section.key=value`. */
  readonly set?: readonly string[];
}

/** The sources of settings, which tests can replace. */
export interface ConfigInput {
  readonly argvFlags: ArgvFlags;
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * Returns the text of a file, or undefined if there is none; throws if it cannot be read.
   *
   * @param look gets the facts of the file before it is read, and may throw.
   */
  readonly readFile: (path: string, look?: (facts: FileFacts) => void) => string | undefined;
  readonly cwd: string;
  /** The user who runs the command; undefined on a system without users. */
  readonly uid?: number | undefined;
}

/** An error in the settings. */
export interface ConfigProblem {
  /** `section.key`, or the misspelled name. */
  readonly key: string;
  readonly source: string;
  /** The error, as the end of a sentence that starts with the key. */
  readonly message: string;
  /** The section concerned; undefined for an error of the source itself. */
  readonly section?: string;
}

/** A value for a setting, not yet validated. */
export interface Candidate {
  readonly setting: Setting;
  readonly value: unknown;
  readonly source: string;
}

/** The contents of one source: values to validate, and errors of the source itself. */
export interface Layer {
  readonly candidates: readonly Candidate[];
  readonly problems: readonly ConfigProblem[];
  /** The settings whose values are in the source itself, not in files that it names. */
  readonly inline: ReadonlySet<Setting>;
}

const FLAG_KEYS = [
  ["dataDir", "--data-dir", "data.dir"],
  ["host", "--host", "http.host"],
  ["port", "--port", "http.port"],
  ["logLevel", "--log-level", "log.level"],
  ["logFormat", "--log-format", "log.format"],
] as const;

/** What reading a source needs. */
export type LayerInput = Pick<ConfigInput, "readFile" | "cwd"> & {
  /** If false, secrets in separate files keep their defaults. */
  readonly readsSecrets: boolean;
};

interface Said {
  readonly section: string;
  /** The name within the section. With `_file`, the value is the path of a file that contains the setting's value. */
  readonly name: string;
  readonly value: unknown;
  readonly source: string;
  /** How the source spells the key. */
  readonly spelling: string;
}

/**
 * Collects the settings of one source.
 *
 * @param isText whether the source contains only texts, without types of its own.
 */
function createLayer({ readFile, cwd, readsSecrets }: LayerInput, { isText }: { readonly isText: boolean }) {
  const candidates: Candidate[] = [];
  const problems: ConfigProblem[] = [];
  const inline = new Set<Setting>();
  const filed = new Map<Setting, string>();

  function addFile(setting: Setting, path: unknown, source: string): void {
    filed.set(setting, source);
    if (setting.secret !== undefined && !readsSecrets) return;
    if (typeof path !== "string" || path === "") {
      problems.push(problemOf(setting, source, "must be the path of a file"));
      return;
    }
    try {
      const text = readFile(resolve(cwd, path));
      if (text === undefined) throw new Error("the file does not exist");
      candidates.push({ setting, value: parseText(setting.schema, text.replace(/\r?\n$/, "")), source });
    } catch (cause) {
      problems.push(problemOf(setting, source, `${path} cannot be read: ${reasonOf(cause)}`));
    }
  }

  return {
    problems,
    add({ section, name, value, source, spelling }: Said): void {
      const setting = findSetting(`${section}.${name}`);
      if (setting !== undefined) {
        inline.add(setting);
        const read = isText && typeof value === "string" ? parseText(setting.schema, value) : value;
        candidates.push({ setting, value: read, source });
        return;
      }
      const fromFile = name.endsWith(FILE_END)
        ? findSetting(`${section}.${name.slice(0, -FILE_END.length)}`)
        : undefined;
      if (fromFile !== undefined) addFile(fromFile, value, `file of ${spelling}`);
      else {
        const from = spelling === source ? "environment" : source;
        problems.push({ key: spelling, section, source: from, message: noSuchSetting(spelling, section) });
      }
    },
    done(): Layer {
      for (const [setting, source] of filed) {
        if (inline.has(setting))
          problems.push(problemOf(setting, source, "is set twice: as a value and by a file"));
      }
      return { candidates, problems, inline };
    },
  };
}

/** Reads a TOML text; `source` is its file. */
export function fromToml(text: string, source: string, input: LayerInput): Layer {
  let parsed: object;
  try {
    parsed = Bun.TOML.parse(text);
  } catch (cause) {
    return {
      candidates: [],
      problems: [{ key: source, source: tomlPosition(text), message: reasonOf(cause) }],
      inline: new Set(),
    };
  }
  const layer = createLayer(input, { isText: false });
  for (const [section, keys] of Object.entries(parsed)) {
    if (!sectionNames.includes(section)) {
      layer.problems.push({ key: section, source, section, message: noSuchSection(section) });
    } else if (typeof keys !== "object" || keys === null || Array.isArray(keys)) {
      layer.problems.push({
        key: section,
        source,
        section,
        message: `must be a section, written [${section}]`,
      });
    } else {
      for (const [name, value] of Object.entries(keys))
        layer.add({ section, name, value, source, spelling: `${section}.${name}` });
    }
  }
  return layer.done();
}

/**
 * Reads the variables `SVC_<SECTION>_<KEY>` and `SVC_<SECTION>_<KEY>_FILE`. An unknown key of a known section is rejected as a
 * misspelt setting. Other `SVC_` names do not stop a node, because they may belong to other programs; `unknownVariables` finds them.
 */
export function fromEnvironment(env: ConfigInput["env"], input: LayerInput): Layer {
  const layer = createLayer(input, { isText: true });
  for (const [variable, text] of Object.entries(env)) {
    if (text === undefined || !variable.startsWith(ENV_PREFIX) || KUBERNETES_SERVICE_LINK.test(variable))
      continue;
    const section = sectionNames.find((name) => variable.startsWith(`${ENV_PREFIX}${name.toUpperCase()}_`));
    if (section === undefined) continue;
    const rest = variable.slice(`${ENV_PREFIX}${section}_`.length);
    const name = rest === rest.toUpperCase() ? rest.toLowerCase() : rest;
    layer.add({ section, name, value: text, source: variable, spelling: variable });
  }
  return layer.done();
}

/** Reads the flags. `--set` is last and overrides the other flags. */
export function fromFlags(flags: ArgvFlags, input: LayerInput): Layer {
  const layer = createLayer(input, { isText: true });
  const take = (key: string, text: string, source: string) => {
    const [section = "", ...rest] = key.split(".");
    if (sectionNames.includes(section))
      layer.add({ section, name: rest.join("."), value: text, source, spelling: key });
    else layer.problems.push({ key, source, section, message: noSuchSetting(key, section) });
  };
  for (const [name, flag, key] of FLAG_KEYS) {
    const text = flags[name];
    if (text !== undefined) take(key, text, flag);
  }
  for (const assignment of flags.set ?? []) {
    const [, key, text] = /^([^=]+)=(.*)$/s.exec(assignment) ?? [];
    if (key !== undefined && text !== undefined) take(key.trim(), text, "--set");
    else
      layer.problems.push({
        key: shownSet(assignment),
        source: "flags",
        message: FORM_OF_SET,
      });
  }
  return layer.done();
}

function problemOf({ key, section }: Setting, source: string, message: string): ConfigProblem {
  return { key, section, source, message };
}

/** Bun's parser does not report the position of an error, but it follows the longest prefix of lines that parses. */
function tomlPosition(text: string): string {
  const lines = text.split("\n");
  if (lines.length > MAX_SEARCHED_LINES) return "TOML";
  const good = lines.findLastIndex((_, end) => parses(lines.slice(0, end).join("\n")));
  return `line ${good + 1}`;
}

function parses(text: string): boolean {
  try {
    Bun.TOML.parse(text);
    return true;
  } catch {
    return false;
  }
}
