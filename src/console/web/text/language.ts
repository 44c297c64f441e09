import { isLanguage, type Language } from "../page-settings.ts";
import { language } from "./locale.ts";

const KEY = "language";

/**
 * Returns the script of the language that the visitor has chosen, if the browser asked for a document in another one. The document is
 * then in the chosen language.
 */
export function scriptOfChoice(): string | undefined {
  const chosen = storedChoice();
  const scripts = document.querySelector<HTMLMetaElement>('meta[name="console-scripts"]')?.content;
  if (chosen === undefined || chosen === language || !scripts) return undefined;
  document.documentElement.lang = chosen;
  return (JSON.parse(scripts) as Record<Language, string>)[chosen];
}

function storedChoice(): Language | undefined {
  try {
    const stored = localStorage.getItem(KEY);
    return isLanguage(stored) ? stored : undefined;
  } catch {
    return undefined;
  }
}

/** Reloads the page in another language, which the browser remembers. If the browser stores nothing, the choice has no effect. */
export function chooseLanguage(chosen: Language): void {
  try {
    localStorage.setItem(KEY, chosen);
  } catch {
    return;
  }
  location.reload();
}
