/**
 * Headers of a document. Nothing of another host is loaded, but images that the reader asked for.
 * @param images whether images of other hosts are allowed.
 */
export function documentHeaders(images: boolean): Record<string, string> {
  return images ? WITH_IMAGES : WITHOUT_IMAGES;
}

const headersWith = (imageSources: string) => ({
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-cache",
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src ${imageSources}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  // Wallets open windows that talk to the page.
  "cross-origin-opener-policy": "same-origin-allow-popups",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": [
    "clipboard-write=(self)",
    ...["camera", "display-capture", "geolocation", "microphone", "midi", "payment", "usb"].map(
      (feature) => `${feature}=()`,
    ),
  ].join(", "),
});

const WITHOUT_IMAGES = headersWith("'self' data:");
const WITH_IMAGES = headersWith("'self' data: https:");
