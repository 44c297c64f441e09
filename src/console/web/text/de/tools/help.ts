import type { Value } from "../../format.ts";

export const keyboard = "Tastatur";
export const SECTIONS = { e: "Entdecken", s: "Stream", m: "Verwalten", t: "Status" } as const;
export const refresh = "aktualisieren";
export const up = "nach oben";
export const toSearch = "Suche";
export const orCtrlK = "/ oder Strg-K";
export const jAndK = "j und k";
export const nextAndPreviousRow = "nächste und vorige Zeile";
export const openTheRow = "Zeile öffnen";
export const copyTheCallAsCurl = "Aufruf als curl kopieren";
export const showTheCall = "Aufruf anzeigen";
export const gThen = (listed: Value) => `g, dann ${listed}`;
export const thisHelp = "diese Hilfe";
export const singleKeysAreShortcuts = "Einzelne Tasten sind Kurzbefehle";
