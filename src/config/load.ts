import { resolve } from "node:path";
import { Value } from "@sinclair/typebox/value";
import { reasonOf, UserError } from "../lib/failure.ts";
import { findConflicts } from "./checks/conflicts.ts";
import defaultsText from "./defaults.toml" with { type: "text" };
import { readConsoleFile } from "./files/console-file.ts";
import { followedFids } from "./files/fid-file.ts";
import { findSettingsFile, type SettingsFile } from "./files/settings-file.ts";
import { readSmallFile } from "./files/small-file.ts";
import {
  type ArgvFlags,
  type ConfigInput,
  type ConfigProblem,
  fromEnvironment,
  fromFlags,
  fromToml,
  type Layer,
} from "./layers.ts";
import { type Config, configSchema } from "./schema.ts";
import type { SecretKind } from "./secret-settings.ts";
import { isSecretValue, maskSecret, settingValue } from "./secrets.ts";
import { type Setting, settings } from "./settings/settings.ts";
import { unknownVariables, unknownVariableText } from "./settings/unknown-names.ts";
import { isValid, showValue } from "./values.ts";

/** The sections that a client of a node needs: its address and names, and how to log. */
const CLIENT_SECTIONS: ReadonlySet<string | undefined> = new Set([
  undefined,
  "service",
  "data",
  "http",
  "log",
]);

export interface LoadedConfig {
  readonly config: Config;
  /** The TOML file that was read, if any. */
  readonly file: string | undefined;
  /** The file with changes from the operator's page, whether or not it exists; undefined for a client. */
  readonly consoleFile: string | undefined;
  /** A description of the source of each `section.key`. */
  readonly sources: ReadonlyMap<string, string>;
  /** Like `sources`, but with the line if the source is a file. */
  readonly places: ReadonlyMap<string, string>;
  /** Oddities of the sources, as sentences. */
  readonly warnings: readonly string[];
}

/** Who reads the settings: a command that works with the node's data, or one that calls a node and that any user may run. */
export type SettingsReader = "node" | "client";

/** The settings are invalid. The message lists all problems, one per line. */
export class ConfigError extends UserError {
  override name = "ConfigError";
  readonly problems: readonly ConfigProblem[];
  /** The file of the operator's page, if it was read and is not the settings file: it may contain the problems. */
  readonly consoleFile: string | undefined;

  constructor(problems: readonly ConfigProblem[], consoleFile?: string) {
    const [only] = problems;
    const lines = problems.map(({ key, message, source }) => `  ${key}: ${message} (${source})`);
    // A source that cannot be read is not a setting.
    if (problems.length === 1 && only?.section === undefined) super(lines.join("").trim());
    else {
      const head = problems.length === 1 ? "1 setting is wrong:" : `${problems.length} settings are wrong:`;
      super([head, ...lines].join("\n"));
    }
    this.problems = problems;
    this.consoleFile = consoleFile;
  }
}

/** Returns the text of the default settings, with their documentation. */
export function defaultConfigText(): string {
  return defaultsText;
}

/** Returns the meaning of each setting by `section.key`, from the comments of the default settings. */
export function settingMeanings(): ReadonlyMap<string, string> {
  return new Map(Array.from(settingPlaces(defaultsText), ([key, { comment }]) => [key, comment]));
}

/** Returns the default of each setting by `section.key`. */
export function settingDefaults(): ReadonlyMap<string, unknown> {
  const sections = Object.entries(Bun.TOML.parse(defaultsText)) as [string, object][];
  return new Map(
    sections.flatMap(([section, values]) =>
      Object.entries(values).map(([name, value]) => [`${section}.${name}`, value] as const),
    ),
  );
}

/** Returns the sources of this process. Only this function reads the environment. */
export function processInput(argvFlags: ArgvFlags): ConfigInput {
  const uid = process.geteuid?.();
  return { argvFlags, env: process.env, readFile: readSmallFile, cwd: process.cwd(), uid };
}

/**
 * Reads the settings: defaults, then one TOML file, then changes from the operator's page, then the environment, then flags. Every value
 * is validated, even if a later source overrides it.
 *
 * A client gets no secrets from separate files and ignores errors in the node's own settings, because any user of the machine may run it.
 *
 * @throws ConfigError with the key, the source and the rule of every error.
 */
export function loadConfig(input: ConfigInput, reader: SettingsReader = "node"): LoadedConfig {
  const isClient = reader === "client";
  const file = findSettingsFile(input, { mayLack: isClient });
  const layerInput = { ...input, readsSecrets: !isClient };
  const ofFile = file.text === undefined ? undefined : fromToml(file.text, file.path, layerInput);
  const below = [fromToml(defaultsText, "default", layerInput), ...(ofFile ? [ofFile] : [])];
  const above = [fromEnvironment(input.env, layerInput), fromFlags(input.argvFlags, layerInput)];
  const dataDir = dataDirOf([...below, ...above]);
  const changed = isClient || dataDir === undefined ? undefined : readConsoleFile(input, dataDir, layerInput);
  const mayBeAtFault = changed?.layer && changed.path !== file.path ? changed.path : undefined;
  const layers = [...below, ...(changed?.layer ? [changed.layer] : []), ...above];
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
    throw new ConfigError(problems, mayBeAtFault);
  }
  if (!isClient) problems.push(...problemsBetween(table, { input, sources, problems }));
  const own = isClient ? problems.filter(({ section }) => CLIENT_SECTIONS.has(section)) : problems;
  if (own.length > 0) throw new ConfigError(own, mayBeAtFault);
  // A client reads few settings, so only a variable that looks like one of them is worth a line of its output.
  const unknown = unknownVariables(input.env).filter(({ meant }) => !isClient || meant.length > 0);
  return {
    config: deepFreeze(table),
    file: ofFile && file.path,
    consoleFile: changed?.path,
    sources,
    places: ofFile && file.text !== undefined ? withLines(sources, file.path, file.text) : sources,
    warnings: [
      ...file.warnings,
      ...unknown.map(unknownVariableText),
      ...(ofFile ? readableSecrets(ofFile, file) : []),
      ...(changed?.warnings ?? []),
      ...(ofFile ? ofOtherNode(ofFile, dataDir, { input, file }) : []),
    ],
  };
}

/** Warns that a settings file that was found, not named, is for another data directory than the one in effect. */
function ofOtherNode(
  ofFile: Layer,
  dataDir: string | undefined,
  { input, file }: { readonly input: ConfigInput; readonly file: SettingsFile },
): string[] {
  const named = dataDirOf([ofFile]);
  if (!file.isFound || named === undefined || dataDir === undefined) return [];
  if (resolve(input.cwd, named) === resolve(input.cwd, dataDir)) return [];
  return [
    `${file.path} counts here, although it is of the node with the data in ${named}: name the settings file of this node by --config, or run in another directory`,
  ];
}

/** Returns the data directory from the last valid source. The console's file is inside it and does not set it. */
function dataDirOf(layers: readonly Layer[]): string | undefined {
  const said = layers.flatMap(({ candidates }) =>
    candidates.filter(({ setting, value }) => setting.key === "data.dir" && isValid(setting, value)),
  );
  const value = said.at(-1)?.value;
  return typeof value === "string" ? value : undefined;
}

function withLines(sources: ReadonlyMap<string, string>, path: string, text: string) {
  const places = settingPlaces(text);
  const lineOf = (key: string) => places.get(key)?.line ?? places.get(`${key}_file`)?.line;
  return new Map(
    Array.from(sources, ([key, source]) => {
      const line = source === path || source === `file of ${key}_file` ? lineOf(key) : undefined;
      return [key, line === undefined ? source : `${path}, line ${line}`] as const;
    }),
  );
}

/** Finds conflicts between valid settings, and problems of the file that one of them names. */
function problemsBetween(
  config: Config,
  {
    input,
    sources,
    problems,
  }: { input: ConfigInput; sources: Map<string, string>; problems: ConfigProblem[] },
): ConfigProblem[] {
  const found: ConfigProblem[] = [];
  const add = (key: string, message: string) =>
    found.push({ key, message, source: sources.get(key) ?? "default" });
  // A rejected value was replaced by that of an earlier source, so comparing it would report a false conflict.
  const rejected = new Set(problems.map(({ key }) => key));
  for (const { key, otherKey, message } of findConflicts(config))
    if (!rejected.has(key) && !rejected.has(otherKey)) add(key, message);
  try {
    followedFids(config.upstream, input);
  } catch (cause) {
    add("upstream.fid_file", reasonOf(cause));
  }
  return found;
}

/** Warns about secrets in a file that every user of the machine can read. */
function readableSecrets({ candidates, inline }: Layer, { path, isPublic }: SettingsFile): string[] {
  if (!isPublic) return [];
  return candidates.flatMap(({ setting: { key, secret }, setting, value }) =>
    secret !== undefined && inline.has(setting) && isSecretValue(value, secret)
      ? [
          `${path} has ${key} and can be read by every user: put it into a file of its own, and name that as ${key}_file`,
        ]
      : [],
  );
}

function refusal({ key, section, secret, rule }: Setting, value: unknown, source: string): ConfigProblem {
  const got = secret ? "" : `, got ${showValue(value)}`;
  return { key, section, source, message: `must be ${rule}${got}` };
}

function deepFreeze<T extends object>(value: T): T {
  for (const inner of Object.values(value))
    if (typeof inner === "object" && inner !== null) deepFreeze(inner);
  return Object.freeze(value);
}

/** Masks the value of a secret setting; a list item by item. */
function maskSetting(value: unknown, kind: SecretKind): unknown {
  return Array.isArray(value) ? value.map((item) => maskSecret(item, kind)) : maskSecret(value, kind);
}

/** Returns the settings with all secrets masked. */
export function maskConfig(config: Config): Record<string, Record<string, unknown>> {
  const shown: Record<string, Record<string, unknown>> = {};
  for (const setting of settings) {
    const value = settingValue(config, setting);
    shown[setting.section] ??= {};
    Object.assign(shown[setting.section] ?? {}, {
      [setting.name]: setting.secret ? maskSetting(value, setting.secret) : value,
    });
  }
  return shown;
}

/** Where a TOML text sets a key, and its comment. */
interface SettingPlace {
  /** Counted from 1. */
  readonly line: number;
  /** The comment above it, as one text; empty without one. */
  readonly comment: string;
}

const SECTION = /^\s*\[\s*([\w-]+)\s*\]/;
const KEY = /^\s*([\w-]+)\s*=/;
const COMMENT = /^\s*#\s?(.*)$/;

/**
 * Finds the places of the keys in a TOML text, by `section.key`. It does not find all keys of other notations, such as dotted keys: it
 * only helps people to find a setting.
 */
export function settingPlaces(text: string): ReadonlyMap<string, SettingPlace> {
  const places = new Map<string, SettingPlace>();
  let section = "";
  let comment: string[] = [];
  for (const [at, line] of text.split("\n").entries()) {
    const said = COMMENT.exec(line)?.[1];
    if (said !== undefined) {
      comment.push(said.trim());
      continue;
    }
    section = SECTION.exec(line)?.[1] ?? section;
    const name = KEY.exec(line)?.[1];
    const key = `${section}.${name}`;
    if (name !== undefined && !places.has(key)) places.set(key, { line: at + 1, comment: comment.join(" ") });
    comment = [];
  }
  return places;
}
