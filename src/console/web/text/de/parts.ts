import type { Rich, Value } from "../format.ts";

export const message = "Nachricht";
export const title = "Titel";
export const phone = "Handy";
export const inApp = "In der App";
export const preview = "Vorschau";
export const where = "Wo";
export const now = "jetzt";

export const anHttpsUrl = "Eine https-URL.";
export const tooManyAtMostCharacters = (tooMany: Value, maxChars: Value) =>
  `${tooMany} zu viel: höchstens ${maxChars} Zeichen.`;
export const aWholeNumberFrom1Or = "Eine ganze Zahl ab 1 oder leer.";
export const aDay = "Ein Tag.";
export const aDayInTheFutureOr = "Ein künftiger Tag oder leer.";
export const isNotAnFidFidsAre = (bad: Value) => `„${bad}“ ist keine fid: fids sind Zahlen wie 3.`;
export const oneFid = "Eine fid.";
export const thisHasCharactersThatNoClient = "Das enthält Zeichen, die kein Client anzeigen kann.";

export const ofCharacters = (charsOf: Rich, maxChars: Rich): Rich => [charsOf, " von ", maxChars, " Zeichen"];

export const values = "Werte";
export const noValuesYet = (name: Value) => `${name}: noch keine Werte`;
export const fromToLast = (name: Value, low: Value, high: Value, at: Value) =>
  `${name}: von ${low} bis ${high}, zuletzt ${at}`;
export const valuesOf = (title: Value) => `${title}: Werte`;
export const time = "Zeit";
export const technicalDetails = "Technische Details";

export const json = "JSON";
export const showAllKb = (value: Rich): Rich => ["Alle ", value, " KB anzeigen"];
export const copyAll = "Alles kopieren";
export const thisMachine = "dieser Rechner";
export const machinesInTheSameNetwork = "Rechner im selben Netz";
export const onlyCanOpenItToChange = (bold: Rich, reach: Rich, code: Rich): Rich => [
  bold,
  " Erreichbar für: ",
  reach,
  ". Der Betreiber ändert das mit ",
  code,
  ".",
];
export const cannotReachThisUrlFromOutside = (others: Rich): Rich => [
  others,
  " erreichen diese URL von außen nicht.",
];

export const required = "Pflichtfeld.";
export const completeFirst = (fields: string) =>
  fields === "" ? "Fülle zuerst das Formular aus." : `Noch auszufüllen: ${fields}.`;
