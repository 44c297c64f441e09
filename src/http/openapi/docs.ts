import { Elysia } from "elysia";
import iconPath from "swagger-ui-dist/favicon-32x32.png" with { type: "file" };
import stylePath from "swagger-ui-dist/swagger-ui.css" with { type: "file" };
import scriptPath from "swagger-ui-dist/swagger-ui-bundle.js" with { type: "file" };
import { parseQueryString } from "../request/query-string.ts";
import type { DocumentedSurface } from "./surfaces.ts";

/** Allows only the page's own assets, and no other host. */
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

const page = (
  title: string,
  surfaces: readonly DocumentedSurface[],
  shown: DocumentedSurface,
  hasConsole: boolean,
) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${Bun.escapeHTML(title)}</title>
    <link rel="icon" type="image/png" href="/docs/icon.png">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
    <link rel="stylesheet" href="/docs/page.css">
  </head>
  <body>
${hasConsole ? '    <p class="back"><a href="/console">← Console</a></p>' : ""}
    <nav aria-label="APIs">
${surfaces.map((surface) => `      ${link(surface, surface === shown)}`).join("\n")}
    </nav>
    <div id="swagger-ui" data-document="${Bun.escapeHTML(documentPath(shown.id))}"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/init.js"></script>
  </body>
</html>
`;

function link({ id, title, basePath }: DocumentedSurface, isShown: boolean): string {
  const current = isShown ? ' aria-current="page"' : "";
  return `<a href="/docs?api=${Bun.escapeHTML(id)}"${current}>${Bun.escapeHTML(title)} <code>${Bun.escapeHTML(basePath)}</code></a>`;
}

/** Returns the path of a surface's document. */
const documentPath = (id: string) => `/docs/openapi/${id}.json`;

const style = `.back { max-width: 1460px; margin: 0 auto; padding: 16px 20px 0; font: 16px sans-serif; }
.back a { color: #1c4f8a; }
html.dark-mode nav { color: #e4e6e6; }
html.dark-mode nav a:not([aria-current]), html.dark-mode .back a { color: #9ec5ff; }
@media (max-width: 640px) {
  .swagger-ui .opblock .opblock-summary-control { flex-wrap: wrap; }
  .swagger-ui .opblock .opblock-summary-path-description-wrapper { flex: 1 1 50%; min-width: 0; }
  .swagger-ui .opblock .opblock-summary-operation-id { flex-basis: 100%; padding: 4px 10px 0; }
}
nav { display: flex; flex-wrap: wrap; gap: 8px 24px; max-width: 1460px; margin: 0 auto; padding: 16px 20px 0; font: 16px sans-serif; }
nav a { color: #1c4f8a; padding: 4px 0; }
nav a[aria-current] { color: inherit; font-weight: bold; text-decoration: none; border-bottom: 3px solid; }
`;

/** `validatorUrl: null` because Swagger UI otherwise uses a public service to validate the document. */
const initScript = `const dark = matchMedia("(prefers-color-scheme: dark)");
const applyTheme = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", applyTheme);
applyTheme();
SwaggerUIBundle({
  url: document.getElementById("swagger-ui").dataset.document,
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

/**
 * Serves Swagger UI at `/docs` with all its assets, and the document of each surface; `/docs?api=<id>` shows one.
 *
 * @param hasConsole whether to link to the console
 * @param respondWithDocument responds with the document of a surface
 */
export function docsRoutes({
  title,
  surfaces,
  hasConsole,
  respondWithDocument,
}: {
  readonly title: string;
  readonly surfaces: readonly [DocumentedSurface, ...DocumentedSurface[]];
  readonly hasConsole: boolean;
  readonly respondWithDocument: (request: Request, surface: DocumentedSurface) => Promise<Response>;
}) {
  const html = "text/html; charset=utf-8";
  const css = "text/css; charset=utf-8";
  const script = "text/javascript; charset=utf-8";
  const pageOf = ({ url }: Request) => {
    const [id] = parseQueryString(url).api ?? [];
    const shown = surfaces.find((surface) => surface.id === id) ?? surfaces[0];
    return page(title, surfaces, shown, hasConsole);
  };
  const app = new Elysia({ name: "docs" })
    .get("/docs", ({ request }) => secured(pageOf(request), html, "no-cache"), hidden)
    .get("/docs/init.js", () => secured(initScript, script, assetCaching), hidden)
    .get("/docs/swagger-ui-bundle.js", () => secured(Bun.file(scriptPath), script, assetCaching), hidden)
    .get("/docs/swagger-ui.css", () => secured(Bun.file(stylePath), css, assetCaching), hidden)
    .get("/docs/page.css", () => secured(style, css, assetCaching), hidden)
    .get("/docs/icon.png", () => secured(Bun.file(iconPath), "image/png", assetCaching), hidden);
  for (const surface of surfaces) {
    app.get(documentPath(surface.id), ({ request }) => respondWithDocument(request, surface), hidden);
  }
  return app;
}
