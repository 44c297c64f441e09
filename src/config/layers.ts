import { resolve } from "node:path";
import { reasonOf } from "../lib/failure.ts";
import { findSetting, keysOf, type Setting, sectionNames } from "./schema.ts";
import { parseText } from "./values.ts";

const ENV_PREFIX = "SVC_";
const MAX_SEARCHED_LINES = 2000;
/** Kubernetes sets these in every pod next to a Service with the program's name. They are not settings. */
const KUBERNETES_SERVICE_LINK = /^SVC_SERVICE_(HOST|PORT(_.+)?)$/;

/** The flags for settings, with the names of the command line parser. */
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
  /** Returns the text of a file, or undefined when there is none; throws when it cannot be read. */
  readonly readFile: (path: string) => string | undefined;
  readonly cwd: string;
}

/** An error in the settings. */
export interface ConfigProblem {
  /** `section.key`, or the misspelt name. */
  readonly key: string;
  readonly source: string;
  /** The error, as the end of a sentence that starts with the key. */
  readonly message: string;
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
}

const FLAG_KEYS = [
  ["dataDir", "--data-dir", "data.dir"],
  ["host", "--host", "http.host"],
  ["port", "--port", "http.port"],
  ["logLevel", "--log-level", "log.level"],
  ["logFormat", "--log-format", "log.format"],
] as const;

/** Reads a TOML text; `source` is its file. */
export function fromToml(text: string, source: string): Layer {
  let parsed: object;
  try {
    parsed = Bun.TOML.parse(text);
  } catch (cause) {
    return {
      candidates: [],
      problems: [{ key: source, source: tomlPosition(text), message: reasonOf(cause) }],
    };
  }
  const candidates: Candidate[] = [];
  const problems: ConfigProblem[] = [];
  for (const [section, keys] of Object.entries(parsed)) {
    if (!sectionNames.includes(section)) {
      problems.push({
        key: section,
        source,
        message: `is not a section; these are ${sectionNames.join(", ")}`,
      });
      continue;
    }
    if (typeof keys !== "object" || keys === null || Array.isArray(keys)) {
      problems.push({ key: section, source, message: `must be a section, written [${section}]` });
      continue;
    }
    for (const [name, value] of Object.entries(keys)) {
      const setting = findSetting(`${section}.${name}`);
      if (setting === undefined) problems.push(unknownKey(`${section}.${name}`, section, source));
      else candidates.push({ setting, value, source });
    }
  }
  return { candidates, problems };
}

/**
 * Reads the variables `SVC_<SECTION>_<KEY>` and `SVC_<SECTION>_<KEY>_FILE`. An unknown key of a known section is rejected as a
 * misspelt setting. Other `SVC_` names are ignored: they belong to other programs.
 */
export function fromEnvironment({ env, readFile, cwd }: ConfigInput): Layer {
  const candidates: Candidate[] = [];
  const problems: ConfigProblem[] = [];
  for (const [variable, text] of Object.entries(env)) {
    if (text === undefined || !variable.startsWith(ENV_PREFIX) || KUBERNETES_SERVICE_LINK.test(variable))
      continue;
    const section = sectionNames.find((name) => variable.startsWith(`${ENV_PREFIX}${name.toUpperCase()}_`));
    if (section === undefined) continue;
    const rest = variable.slice(`${ENV_PREFIX}${section}_`.length);
    const name = rest === rest.toUpperCase() ? rest.toLowerCase() : rest;
    const setting = findSetting(`${section}.${name}`);
    if (setting !== undefined) {
      candidates.push({ setting, value: parseText(setting.schema, text), source: variable });
      continue;
    }
    const filed = name.endsWith("_file")
      ? findSetting(`${section}.${name.slice(0, -"_file".length)}`)
      : undefined;
    if (filed === undefined) {
      problems.push(unknownKey(variable, section, "environment"));
    } else if (env[variable.slice(0, -"_FILE".length)] !== undefined) {
      problems.push({
        key: filed.key,
        source: "environment",
        message: `is set twice: by ${variable} and without _FILE`,
      });
    } else {
      const source = `file of ${variable}`;
      try {
        const value = readFile(resolve(cwd, text));
        if (value === undefined) throw new Error("the file does not exist");
        candidates.push({
          setting: filed,
          value: parseText(filed.schema, value.replace(/\r?\n$/, "")),
          source,
        });
      } catch (cause) {
        problems.push({ key: filed.key, source, message: `${text} cannot be read: ${reasonOf(cause)}` });
      }
    }
  }
  return { candidates, problems };
}

/** Reads the flags. `--set` comes last and overrides the other flags. */
export function fromFlags(flags: ArgvFlags): Layer {
  const candidates: Candidate[] = [];
  const problems: ConfigProblem[] = [];
  const take = (key: string, text: string, source: string) => {
    const setting = findSetting(key);
    const [section = ""] = key.split(".", 1);
    if (setting !== undefined) candidates.push({ setting, value: parseText(setting.schema, text), source });
    else if (sectionNames.includes(section)) problems.push(unknownKey(key, section, source));
    else
      problems.push({
        key,
        source,
        message: `is not a setting; the sections are ${sectionNames.join(", ")}`,
      });
  };
  for (const [name, flag, key] of FLAG_KEYS) {
    const text = flags[name];
    if (text !== undefined) take(key, text, flag);
  }
  for (const assignment of flags.set ?? []) {
    const [, key, text] = /^([^=]+)=(.*)$/s.exec(assignment) ?? [];
    if (key !== undefined && text !== undefined) take(key.trim(), text, "--set");
    else problems.push({ key: "--set", source: "flags", message: "must be section.key=value" });
  }
  return { candidates, problems };
}

function unknownKey(key: string, section: string, source: string): ConfigProblem {
  return { key, source, message: `is not a setting; [${section}] has ${keysOf(section).join(", ")}` };
}

/** Bun's parser does not report the position of an error. It is after the longest prefix of lines that parses. */
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
