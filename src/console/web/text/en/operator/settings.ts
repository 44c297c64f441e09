import type { Rich, Value } from "../../format.ts";

// settings/settings.tsx
export const title = "Settings";
export const settingsInForce = "Settings in force";
export const status = "Status";
export const operator = "Operator";
export const findASetting = "Find a setting";
export const theOnesThatAreSet = (count: Value, all: Value) =>
  `${count} of ${all} are set; the others have their default. Secrets are masked.`;
export const foundOfAll = (count: Value, all: Value) => `${count} of ${all}`;
export const noneFound = "No setting has these words in its name, meaning or source.";
export const changedOnly = "Only those that are set";
export const setting = "Setting";
export const value = "Value";
export const takesEffect = "Takes effect";
export const source = "Source";
export const actions = "Actions";
export const meaning = "Meaning";
export const byDefault = (value: Rich): Rich => ["default ", value];
export const ofDefault = "default";
export const atNextStart = (value: Rich): Rich => [", at the next start ", value];
export const APPLY = {
  now: "at once",
  start: "at the next start",
  file: "at the next start, from the file",
} as const;
export const lockedBy = (source: string) =>
  `at the next start: ${source.startsWith("-") ? "the flag" : "the environment variable"} ${source.replace("file of ", "")} overrides this page and the settings file`;
export const whatCounts = (file: Rich): Rich => [
  "Changes are written to ",
  file,
  ". They override the settings file; environment variables and flags override them.",
];
export const ofThisNode = "Other nodes of this state have settings of their own: change each node.";
export const lineOfTheFile = (file: Rich): Rich => [
  "It cannot be changed here. Put this into ",
  file,
  " and restart the node:",
];
export const theSettingsFile = "a settings file";
export const change = "Change";
export const save = "Save";
export const cancel = "Cancel";
export const takeBack = "Reset";
export const undo = "Undo";
export const newValue = (key: Value) => `New value of ${key}`;
export const oneALine = "One per line";
export const mustBe = (rule: Value) => `It must be ${rule}.`;
export const whatChanges = (file: Rich): Rich => ["Changes ", file, ":"];
export const inForce = (keys: Value) => `${keys} changed. It is in effect.`;
export const inForceSoon = (keys: Value, threads: Value) =>
  `${keys} changed. Busy threads take it as soon as they respond: ${threads}.`;
export const waitsForStart = (keys: Value) => `${keys} changed. It takes effect at the next start.`;
export const startedWithout = (keys: Value) =>
  `The node did not start with these changes, and runs without them: ${keys}.`;
export const refusedFile = (file: Rich): Rich => [
  "They are in ",
  file,
  " now. Change them here again once that is corrected.",
];
export const startIsDue = (keys: Value) => `Waiting for the next start: ${keys}.`;
export const restart = "Restart the node";
export const restartEnds =
  "Requests in progress finish first. Then this page needs a new link, which the command prints.";
export const restarts = "The node is restarting.";
