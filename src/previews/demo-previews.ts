import { demoPage } from "../demo/pages.ts";
import { GenerationCache } from "../lib/generation-cache.ts";
import type { PreviewMetadata } from "../read/hydrate/previews.ts";
import { parsePage } from "./parse/page.ts";
import { FAILED, shownOf } from "./preview-reader.ts";
import { previewUrlOf } from "./preview-url.ts";

const MAX_KEPT = 2_048;

/** Returns the preview of a page of the demo network; a failed preview for any other URL. Opens no socket. */
export function createDemoPreviews(): (url: string) => PreviewMetadata | undefined {
  const known = new GenerationCache<string, PreviewMetadata>(MAX_KEPT);
  return (text) => {
    const url = previewUrlOf(text);
    if (!url) return undefined;
    const earlier = known.get(url.href);
    if (earlier) return earlier;
    const metadata = demoPreview(url.href);
    known.set(url.href, metadata);
    return metadata;
  };
}

function demoPreview(href: string): PreviewMetadata {
  const page = demoPage(href);
  if (!page) return FAILED;
  const parsed = page.kind === "html" ? parsePage(page.html, href) : undefined;
  return shownOf({
    url: href,
    isResolved: true,
    fetchedAt: 0,
    expiresAt: 0,
    contentType: page.kind === "html" ? "text/html" : "image/jpeg",
    contentLength: page.kind === "html" ? Buffer.byteLength(page.html) : null,
    image: page.kind === "image" ? { width_px: page.width, height_px: page.height } : undefined,
    html: parsed?.html,
    frame: parsed?.frame,
  });
}
