import { isAbsolute, resolve } from "node:path";
import { Value } from "@sinclair/typebox/value";
import { reasonOf, UserError } from "../lib/failure.ts";
import { findConflicts } from "./conflicts.ts";
import defaultsText from "./defaults.toml" with { type: "text" };
import { followedFids } from "./fid-file.ts";
import {
  type ArgvFlags,
  type ConfigInput,
  type ConfigProblem,
  fromEnvironment,
  fromFlags,
  fromToml,
} from "./layers.ts";
import { type Config, configSchema, type Setting, settings } from "./schema.ts";
import { readSmallFile } from "./small-file.ts";
import { isValid, showValue } from "./values.ts";

const CONFIG_FILE_ENV = "SVC_CONFIG_FILE";
const SEARCHED_FILES = ["./svc.toml", "/etc/svc/svc.toml"];

export interface LoadedConfig {
  readonly config: Config;
  /** The TOML file that was read, if any. */
  readonly file: string | undefined;
  /** Where the value of each `section.key` came from, in words. */
  readonly sources: ReadonlyMap<string, string>;
}

/** The settings cannot be used. Carries every problem at once; its message lists them, one per line. */
export class ConfigError extends UserError {
  override name = "ConfigError";
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    const lines = problems.map(({ key, message, source }) => `  ${key}: ${message} (${source})`);
    super(
      [
        problems.length === 1 ? "1 setting is wrong:" : `${problems.length} settings are wrong:`,
        ...lines,
      ].join("\n"),
    );
    this.problems = problems;
  }
}

/** The text of the commented default settings. */
export function defaultConfigText(): string {
  return defaultsText;
}

/** The sources of the running process. Only here is the environment read. */
export function processInput(argvFlags: ArgvFlags): ConfigInput {
  return { argvFlags, env: process.env, readFile: readSmallFile, cwd: process.cwd() };
}

/**
 * Reads the settings: defaults, then one TOML file, then the environment, then flags. Every value is checked where it
 * stands, also one that a later source replaces.
 *
 * @throws ConfigError naming the key, the source and the rule of everything that is wrong.
 */
export function loadConfig(input: ConfigInput): LoadedConfig {
  const file = findConfigFile(input);
  const layers = [
    fromToml(defaultsText, "default"),
    ...(file.text === undefined ? [] : [fromToml(file.text, file.path)]),
    fromEnvironment(input),
    fromFlags(input.argvFlags),
  ];
  const problems = [...file.problems, ...layers.flatMap((layer) => layer.problems)];
  const table: Record<string, Record<string, unknown>> = {};
  const sources = new Map<string, string>();
  for (const { setting, value, source } of layers.flatMap((layer) => layer.candidates)) {
    if (!isValid(setting, value)) {
      problems.push(refusal(setting, value, source));
      continue;
    }
    table[setting.section] = { ...table[setting.section], [setting.name]: value };
    sources.set(setting.key, source);
  }
  if (!Value.Check(configSchema, table)) {
    const missing = settings.filter(({ key }) => !sources.has(key));
    problems.push(...missing.map(({ key }) => ({ key, source: "default", message: "has no value" })));
    throw new ConfigError(problems);
  }
  // A value that was refused above has left another one in its place, which nobody asked to be compared.
  const refused = new Set(problems.map(({ key }) => key));
  for (const { key, otherKey, message } of findConflicts(table)) {
    if (refused.has(key) || refused.has(otherKey)) continue;
    problems.push({ key, message, source: sources.get(key) ?? "default" });
  }
  try {
    followedFids(table.upstream, input);
  } catch (cause) {
    const key = "upstream.fid_file";
    problems.push({ key, message: reasonOf(cause), source: sources.get(key) ?? "default" });
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return { config: deepFreeze(table), file: file.text === undefined ? undefined : file.path, sources };
}

function refusal(setting: Setting, value: unknown, source: string): ConfigProblem {
  const got = setting.secret ? "" : `, got ${showValue(value)}`;
  return { key: setting.key, source, message: `must be ${setting.rule}${got}` };
}

interface ConfigFile {
  readonly path: string;
  readonly text: string | undefined;
  readonly problems: readonly ConfigProblem[];
}

/** The first of the places that holds a file. One that was named has to be there. */
function findConfigFile({ argvFlags, env, readFile, cwd }: ConfigInput): ConfigFile {
  const named =
    argvFlags.config !== undefined
      ? { path: argvFlags.config, by: "--config" }
      : env[CONFIG_FILE_ENV]
        ? { path: env[CONFIG_FILE_ENV], by: CONFIG_FILE_ENV }
        : undefined;
  const places = named === undefined ? SEARCHED_FILES : [named.path];
  for (const place of places) {
    const path = isAbsolute(place) ? place : resolve(cwd, place);
    try {
      const text = readFile(path);
      if (text !== undefined) return { path, text, problems: [] };
    } catch (cause) {
      const problem = {
        key: path,
        source: named?.by ?? "settings file",
        message: `cannot be read: ${reasonOf(cause)}`,
      };
      return { path, text: undefined, problems: [problem] };
    }
  }
  const problems =
    named === undefined ? [] : [{ key: named.path, source: named.by, message: "there is no such file" }];
  return { path: "", text: undefined, problems };
}

function deepFreeze<T extends object>(value: T): T {
  for (const inner of Object.values(value))
    if (typeof inner === "object" && inner !== null) deepFreeze(inner);
  return Object.freeze(value);
}
