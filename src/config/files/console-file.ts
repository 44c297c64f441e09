import { constants } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { reasonOf, UserError } from "../../lib/failure.ts";
import { type ConfigInput, fromToml, type Layer, type LayerInput } from "../layers.ts";
import { applyOf } from "../settings/changeable.ts";
import type { SettingValues } from "../settings/live-values.ts";
import { settings } from "../settings/settings.ts";
import { toToml } from "../values.ts";
import { readSmallFile } from "./small-file.ts";

/** The file with changes from the operator's page. It overrides the settings file, and the environment overrides it. */
export const CONSOLE_FILE = "settings.toml";
/** The page's settings at the last successful start, in the same directory. */
export const STARTED_FILE = "settings.started.toml";
/** The name of this source in listings of settings. */
export const CONSOLE_SOURCE = "console";

const HEAD = `# Written by the operator's page of the console. These lines count more than those of the settings file, and less than
# variables of the environment and flags. Without a line the settings file counts again.
`;

export interface ConsoleFile {
  /** Absolute. */
  readonly path: string;
  readonly layer: Layer | undefined;
  readonly warnings: readonly string[];
}

/**
 * Reads the text of the page's file; undefined if there is none. Only the node writes it, so anything but a regular file is refused:
 * opening a pipe would wait, and a device may never end.
 *
 * @throws if it is not a regular file or cannot be read.
 */
export function readConsoleText(path: string, readFile = readSmallFile): string | undefined {
  return readFile(path, ({ mode }) => {
    if ((mode & constants.S_IFMT) !== constants.S_IFREG) throw new UserError("it is not a regular file");
  });
}

/**
 * Reads the changes of the operator's page from a data directory. A setting that the page may not change is refused in its file, too.
 *
 * If the file cannot be read, the settings of the last start count, because one of them may protect the node. A user who may read
 * neither, and therefore not the databases either, gets the other settings.
 */
export function readConsoleFile(input: ConfigInput, dataDir: string, layerInput: LayerInput): ConsoleFile {
  const path = join(resolve(input.cwd, dataDir), CONSOLE_FILE);
  const warnings: string[] = [];
  let text: string | undefined;
  try {
    text = readConsoleText(path, input.readFile);
  } catch (cause) {
    text = startedText(path, input);
    const instead = text === undefined ? "" : ". The settings of the last start count instead";
    warnings.push(`${path} cannot be read: ${reasonOf(cause)}${instead}`);
  }
  if (text === undefined) return { path, layer: undefined, warnings };
  const layer = fromToml(text, CONSOLE_SOURCE, layerInput);
  const refused = layer.candidates.filter(({ setting }) => applyOf(setting) === "file");
  const problems = [
    ...layer.problems.map((problem) =>
      problem.key === CONSOLE_SOURCE ? { ...problem, key: path } : problem,
    ),
    ...refused.map(({ setting: { key, section } }) => ({
      key,
      section,
      source: path,
      message: "is not changed here: set it in the settings file",
    })),
  ];
  return { path, layer: { ...layer, problems }, warnings };
}

function startedText(path: string, { readFile }: ConfigInput): string | undefined {
  try {
    return readConsoleText(join(dirname(path), STARTED_FILE), readFile);
  } catch {
    return undefined;
  }
}

/** Returns the sources of a process, with the text of the file at `path` replaced. */
export function withConsoleText(input: ConfigInput, path: string, text: string): ConfigInput {
  return { ...input, readFile: (name, look) => (name === path ? text : input.readFile(name, look)) };
}

/** Returns the values in the text of such a file; empty without a text. */
export function consoleValues(text: string | undefined): SettingValues {
  const sections = Object.entries(text === undefined ? {} : Bun.TOML.parse(text));
  return Object.fromEntries(
    sections.flatMap(([section, values]) =>
      Object.entries(values as object).map(([name, value]) => [`${section}.${name}`, value]),
    ),
  );
}

/** Returns the text of a file with these values. */
export function consoleText(values: SettingValues): string {
  const table: Record<string, Record<string, unknown>> = {};
  for (const { key, section, name } of settings)
    if (Object.hasOwn(values, key)) table[section] = { ...table[section], [name]: values[key] };
  return `${HEAD}\n${toToml(table)}`;
}
