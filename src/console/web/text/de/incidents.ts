import type { Rich, Value } from "../format.ts";

export const incidents = "Vorfälle";
export const open = "Offen";
export const acknowledged = "Zur Kenntnis genommen";
export const resolved = "Behoben";
export const today = "Heute";
export const SEVERITIES = { critical: "Kritisch", warning: "Warnung", notice: "Hinweis" } as const;
export const openIncidents = (count: number) => (count === 0 ? "Keiner offen" : `${count} offen`);
export const noIncidents = (days: number) =>
  `Keine Vorfälle in ${days === 1 ? "einem Tag" : `${days} Tagen`} aufgezeichnet.`;
export const lasted = (time: Value) => `, dauerte ${time}`;
export const openedAgain = (flaps: number) => `, ${flaps === 1 ? "einmal" : `${flaps}-mal`} wieder geöffnet`;
export const onNode = (node: Rich): Rich => [", auf ", node];
export const earlier = (count: number) => `${count} frühere`;
export const daysAgo = (days: number) => `vor ${days} Tagen`;
export const daysWithIncidents = (bad: number, days: number) =>
  `${days} beobachtete Tage, ${bad === 0 ? "keiner" : bad} mit einer Warnung oder einem kritischen Vorfall`;

export const note = "Notiz";
export const noteWhichEveryoneSees = "Notiz, für alle sichtbar";
export const saveNote = "Notiz speichern";
export const acknowledge = "Zur Kenntnis nehmen";
export const unmute = "Stummschaltung aufheben";
export const muteForDays = (days: number) => `${days} Tage stumm`;
export const acknowledgedBy = (by: Rich, when: Rich): Rich => [
  "Zur Kenntnis genommen von ",
  by,
  " ",
  when,
  ".",
];
