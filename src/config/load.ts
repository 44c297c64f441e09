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
  /** A description of the source of each `section.key`. */
  readonly sources: ReadonlyMap<string, string>;
}

/** Invalid settings, with all problems. The message lists them, one per line. */
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

/** The text of the default settings, with their documentation. */
export function defaultConfigText(): string {
  return defaultsText;
}

/** The sources of this process. Only this function reads the environment. */
export function processInput(argvFlags: ArgvFlags): ConfigInput {
  return { argvFlags, env: process.env, readFile: readSmallFile, cwd: process.cwd() };
}

/**
 * Reads the settings: defaults, then one TOML file, then the environment, then flags. Every value is validated, including
 * those that a later source overrides.
 *
 * @throws ConfigError with the key, the source and the rule of every error.
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
  // The value of an earlier source replaced a rejected one, so comparing it would report a false conflict.
  const rejected = new Set(problems.map(({ key }) => key));
  for (const { key, otherKey, message } of findConflicts(table)) {
    if (rejected.has(key) || rejected.has(otherKey)) continue;
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

/** The first file that exists. A file that was named must exist. */
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
    named === undefined ? [] : [{ key: named.path, source: named.by, message: "does not exist" }];
  return { path: "", text: undefined, problems };
}

function deepFreeze<T extends object>(value: T): T {
  for (const inner of Object.values(value))
    if (typeof inner === "object" && inner !== null) deepFreeze(inner);
  return Object.freeze(value);
}
