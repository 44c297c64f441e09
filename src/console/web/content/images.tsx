import { pageConfig } from "../page-config.ts";
import * as msg from "../text/en/common.ts";

const KEY = "images";
const PARAM = "images";

function isChosen(): boolean {
  try {
    return localStorage.getItem(KEY) === "1";
  } catch {
    return false;
  }
}

function choose(isOn: boolean): void {
  try {
    if (isOn) localStorage.setItem(KEY, "1");
    else localStorage.removeItem(KEY);
  } catch {
    // A browser that stores nothing cannot remember a choice.
  }
}

/** Returns this address with or without the parameter that allows images from other hosts. */
function address(isOn: boolean): string {
  const url = new URL(location.href);
  if (isOn) url.searchParams.set(PARAM, "1");
  else url.searchParams.delete(PARAM);
  return url.href;
}

/**
 * Whether images from other hosts are shown: the document may load them, and the visitor chose this in this browser. The parameter is not
 * enough, because a link on another site could request that document and so reveal the visitor's address to those hosts.
 */
export const areImagesLoaded =
  pageConfig.images === "ask" && new URLSearchParams(location.search).get(PARAM) === "1" && isChosen();

/** Whether images from other hosts may be offered and are not shown yet. */
const canLoadImages = pageConfig.images === "ask" && !areImagesLoaded;

/** Reloads this page with images from other hosts and remembers the choice. The document's policy decides what may load. */
function loadImages(): void {
  choose(true);
  if (address(true) === location.href) location.reload();
  else location.assign(address(true));
}

/** Reloads this page without images from other hosts. */
function hideImages(): void {
  choose(false);
  location.assign(address(false));
}

/** Reloads the document with images if the visitor chose so before. Returns whether it does. */
export function restoreImageChoice(): boolean {
  if (!canLoadImages || !isChosen()) return false;
  location.replace(address(true));
  return true;
}

/** The choice to load images from other hosts. Renders nothing if the node does not offer it. */
export function LoadImages() {
  if (canLoadImages)
    return (
      <button type="button" class="btn" title={msg.otherHostsSeeYourAddress} onClick={loadImages}>
        {msg.loadImages}
      </button>
    );
  if (!areImagesLoaded) return null;
  return (
    <button type="button" class="btn" onClick={hideImages}>
      {msg.hideImages}
    </button>
  );
}
