import { nearestOf } from "../../lib/mistakes/nearest.ts";
import { ENV_PREFIX, variableOf } from "../names.ts";
import { keysOf, sectionNames, settings } from "./settings.ts";

/** A setting's variable with this suffix names a file that contains the value; a key in a file ends with it in lower case. */
const FILE_END = "_FILE";

/** Variables that the program, its installer and its tests read, and that are not settings. */
const OWN_VARIABLES =
  /^SVC_(CONFIG_FILE|KEY|LAUNCHER_PID|BINARY|DOWNLOAD_URL|VERSION|PREFIX|PUBLIC_KEY|BUILD_COMMIT|TEST_.+)$/;

/** What Kubernetes and Docker set if there is a Service or a linked container whose name is, or starts with, the program's. */
const SERVICE_LINK = /_SERVICE_(HOST|PORT(_.+)?)$|_PORT_\d+_(TCP|UDP|SCTP)(_.+)?$/;
const LINKED_URL = /^(tcp|udp|sctp):\/\//;

/** A variable with the prefix of settings that is none. */
export interface UnknownVariable {
  readonly variable: string;
  /** The variables of the settings that its author may have meant; often empty. */
  readonly meant: readonly string[];
}

/** Finds the variables with the prefix of settings whose section does not exist, apart from those with another purpose. */
export function unknownVariables(env: Readonly<Record<string, string | undefined>>): UnknownVariable[] {
  return Object.entries(env).flatMap(([variable, text]) => {
    const isOther =
      text === undefined ||
      !variable.startsWith(ENV_PREFIX) ||
      sectionNames.some((name) => variable.startsWith(`${ENV_PREFIX}${name.toUpperCase()}_`)) ||
      OWN_VARIABLES.test(variable) ||
      SERVICE_LINK.test(variable) ||
      LINKED_URL.test(text);
    return isOther ? [] : [{ variable, meant: variablesLike(variable) }];
  });
}

/** Returns a sentence for the log. */
export function unknownVariableText({ variable, meant }: UnknownVariable): string {
  return `${variable} is not a setting and has no effect${meant.length > 0 ? `: did you mean ${orOf(meant)}?` : ""}`;
}

/**
 * Returns the end of a sentence that starts with a key or a variable: there is no such setting, and either the one that was probably
 * meant or those of its section.
 */
export function noSuchSetting(key: string, section: string): string {
  const meant = key.startsWith(ENV_PREFIX) ? variablesLike(key) : keysLike(key);
  if (meant.length > 0) return `is not a setting: did you mean ${orOf(meant)}?`;
  return sectionNames.includes(section)
    ? `is not a setting; [${section}] has ${keysOf(section).join(", ")}`
    : `is not a setting; the sections are ${sectionNames.join(", ")}`;
}

/** The same for a section of a file. */
export function noSuchSection(name: string): string {
  const meant = nearestOf(name, sectionNames);
  return meant === undefined
    ? `is not a section; these are ${sectionNames.join(", ")}`
    : `is not a section: did you mean [${meant}]?`;
}

export const FORM_OF_SET = "must be section.key=value, such as --set http.port=8081";

/** Returns a `--set` that assigns nothing, as far as it looks like a key: what follows may be a secret. */
export function shownSet(text: string): string {
  const [key = ""] = /^[\w.-]{0,60}/.exec(text) ?? [];
  return `--set ${key}${key === text && key !== "" ? "" : "…"}`;
}

function variablesLike(variable: string): string[] {
  const isFile = variable.endsWith(FILE_END);
  const ofValue = isFile ? variable.slice(0, -FILE_END.length) : variable;
  const near = nearestOf(
    ofValue,
    settings.map(({ key }) => variableOf(key)),
  );
  const like = near === undefined ? namedLike(ofValue.slice(ENV_PREFIX.length)).map(variableOf) : [near];
  return like.map((name) => `${name}${isFile ? FILE_END : ""}`);
}

function keysLike(key: string): string[] {
  const near = nearestOf(
    key,
    settings.map((setting) => setting.key),
  );
  return near === undefined ? namedLike(key) : [near];
}

/** Finds the settings whose name, without its section, is this: `http.port` and `hub.port` for `port`. */
function namedLike(name: string): string[] {
  return settings.filter((setting) => setting.name === name.toLowerCase()).map(({ key }) => key);
}

function orOf(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}
