import type { Value } from "../../format.ts";

// shell/help-dialog.tsx
export const keyboard = "Keyboard";
export const SECTIONS = { e: "explore", s: "stream", m: "manage", t: "status" } as const;
export const refresh = "refresh";
export const up = "up";
export const toSearch = "search";
export const orCtrlK = "/ or Ctrl-K";
export const jAndK = "j and k";
export const nextAndPreviousRow = "next and previous row";
export const openTheRow = "open the row";
export const copyTheCallAsCurl = "copy the call as curl";
export const showTheCall = "show the call";
export const gThen = (listed: Value) => `g then ${listed}`;
export const thisHelp = "this help";
export const singleKeysAreShortcuts = "Single keys are shortcuts";
