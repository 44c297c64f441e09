import { isLanguage, type Language } from "../page-settings.ts";
import { language } from "./locale.ts";

const KEY = "language";

/**
 * The script of the language that the visitor has chosen, where the document is in another one, because the browser asks for that.
 * The document is then in the chosen language.
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

/** Loads the page again in another language, which the browser keeps. Where it stores nothing, the choice has no effect. */
export function chooseLanguage(chosen: Language): void {
  try {
    localStorage.setItem(KEY, chosen);
  } catch {
    return;
  }
  location.reload();
}
