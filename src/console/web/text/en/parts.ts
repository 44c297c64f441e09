import type { Rich, Value } from "../format.ts";

// content/notification.tsx
export const message = "Message";
export const title = "Title";
export const phone = "Phone";
export const inApp = "In app";
export const preview = "Preview";
export const where = "Where";
export const now = "now";

// parts/fields.ts
export const anHttpsUrl = "An https URL.";
export const tooManyAtMostCharacters = (tooMany: Value, maxChars: Value) =>
  `${tooMany} too many: at most ${maxChars} characters.`;
export const aWholeNumberFrom1Or = "A whole number from 1, or empty.";
export const aDay = "A day.";
export const aDayInTheFutureOr = "A day in the future, or empty.";
export const isNotAnFidFidsAre = (bad: Value) => `“${bad}” is not an fid: fids are numbers such as 3.`;
export const oneFid = "One fid.";
export const thisHasCharactersThatNoClient = "This has characters that no client can show.";

// parts/form.tsx
export const technicalDetails = "Technical details";
export const ofCharacters = (charsOf: Rich, maxChars: Rich): Rich => [
  charsOf,
  " of ",
  maxChars,
  " characters",
];

// plot/plot.tsx
export const values = "Values";
export const noValuesYet = (name: Value) => `${name}: no values yet`;
export const fromToLast = (name: Value, low: Value, high: Value, at: Value) =>
  `${name}: from ${low} to ${high}, last ${at}`;
export const valuesOf = (title: Value) => `${title}: values`;
export const time = "Time";

// parts/raw-text.tsx
export const json = "JSON";
export const showAllKb = (value: Rich): Rich => ["Show all ", value, " KB"];
export const copyAll = "Copy all";
export const thisMachine = "this machine";
export const machinesInTheSameNetwork = "machines on the same network";
export const onlyCanOpenItToChange = (bold: Rich, reach: Rich, code: Rich): Rich => [
  bold,
  " Only ",
  reach,
  " can open it. To change that, the operator sets ",
  code,
  " to the address that others use.",
];
export const cannotReachThisUrlFromOutside = (others: Rich): Rich => [
  others,
  " cannot reach this URL from outside.",
];

// parts/fields.ts
export const required = "Required.";
export const completeFirst = (fields: string) =>
  fields === "" ? "Complete the form first." : `Still to complete: ${fields}.`;
