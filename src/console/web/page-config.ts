import type { PageSettings } from "./page-settings.ts";

function readPageSettings(): PageSettings {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="console-settings"]');
  if (!meta) throw new Error('the document has no <meta name="console-settings">');
  return JSON.parse(meta.content) as PageSettings;
}

/** The settings of the node, from the document. */
export const pageConfig = readPageSettings();

/** The prefix of the native API. */
export const apiPrefix = `/v2/${pageConfig.service}`;

/** The origin of this node as the page shows it in snippets. */
export const nodeOrigin =
  pageConfig.publicUrl === "" ? location.origin : pageConfig.publicUrl.replace(/\/$/, "");
