import { Elysia } from "elysia";
import iconPath from "swagger-ui-dist/favicon-32x32.png" with { type: "file" };
import stylePath from "swagger-ui-dist/swagger-ui.css" with { type: "file" };
import scriptPath from "swagger-ui-dist/swagger-ui-bundle.js" with { type: "file" };

/** Allows the page's own assets only, and no other host. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const page = (title: string) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${Bun.escapeHTML(title)}</title>
    <link rel="icon" type="image/png" href="/docs/icon.png">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/init.js"></script>
  </body>
</html>
`;

/** `validatorUrl: null` because Swagger UI otherwise uses a public service to validate the document. */
const initScript = `SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  displayOperationId: true,
  docExpansion: "none",
  filter: true,
  defaultModelRendering: "example",
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
});
`;

/** The assets change only with the binary; an hour limits how long an old copy is used after an upgrade. */
const assetCaching = "public, max-age=3600";

const hidden = { detail: { hide: true } } as const;

function secured(body: Bun.BunFile | string, contentType: string, cacheControl: string): Response {
  return new Response(body, {
    headers: {
      "content-type": contentType,
      "cache-control": cacheControl,
      "content-security-policy": contentSecurityPolicy,
      "referrer-policy": "no-referrer",
      "x-frame-options": "DENY",
      "cross-origin-opener-policy": "same-origin",
    },
  });
}

/** Serves Swagger UI at `/docs`, with all its assets. */
export function docsRoutes({ title }: { title: string }) {
  const html = page(title);
  const script = "text/javascript; charset=utf-8";
  return new Elysia({ name: "docs" })
    .get("/docs", () => secured(html, "text/html; charset=utf-8", "no-cache"), hidden)
    .get("/docs/init.js", () => secured(initScript, script, assetCaching), hidden)
    .get("/docs/swagger-ui-bundle.js", () => secured(Bun.file(scriptPath), script, assetCaching), hidden)
    .get(
      "/docs/swagger-ui.css",
      () => secured(Bun.file(stylePath), "text/css; charset=utf-8", assetCaching),
      hidden,
    )
    .get("/docs/icon.png", () => secured(Bun.file(iconPath), "image/png", assetCaching), hidden);
}
