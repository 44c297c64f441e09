import { useEffect, useRef, useState } from "preact/hooks";
import { ErrorBoundary, LocationProvider, lazy, Route, Router, useLocation } from "preact-iso";
import { DemoLayer } from "../demo/demo-layer.tsx";
import { PendingSheet } from "../owner/owner-parts.tsx";
import { pageConfig } from "../page-config.ts";
import { Announcer } from "../parts/announcer.tsx";
import { ApiKeyNotice } from "../parts/api-key-notice.tsx";
import { pages } from "../routes.ts";
import { isPageServed } from "../served-pages.ts";
import { Bar } from "./bar.tsx";
import { Footer } from "./footer.tsx";
import { HelpDialog } from "./help-dialog.tsx";
import { NotFound } from "./not-found.tsx";
import { startShortcuts } from "./shortcuts.ts";
import { chunkFailure, loadChunk } from "./stale-chunk.ts";

/** The pages that this node serves; of others it says 404. */
const routes = pages
  .filter(({ path }) => isPageServed(path, pageConfig))
  .map(({ path, load }) => ({ path, Component: lazy(async () => (await loadChunk(load)).Page) }));

/** Whether all segments of the path can be decoded. */
function isWellFormed(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

function ChunkNotice() {
  if (chunkFailure.value === undefined) return null;
  return (
    <div class="notice" role="alert">
      <span class="grow">
        {chunkFailure.value === "updated"
          ? "The node was updated. This tab is of the version before it."
          : "The node does not answer. The page opens once it does."}
      </span>
      <button type="button" class="btn" onClick={() => location.reload()}>
        Reload
      </button>
    </div>
  );
}

function Frame() {
  const { path, route } = useLocation();
  const [fault, setFault] = useState<Error>();
  // The function changes with each address; a chord may begin on one page and end on the next.
  const navigate = useRef(route);
  navigate.current = route;
  useEffect(() => startShortcuts((to) => navigate.current(to)), []);
  useEffect(() => setFault(undefined), [path]);
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <Bar />
      <ChunkNotice />
      <ApiKeyNotice />
      <DemoLayer />
      <main class="page" id="main">
        {fault ? (
          <p class="failure" role="alert">
            <b>This page failed.</b> {fault.message}
          </p>
        ) : isWellFormed(path) ? (
          <ErrorBoundary onError={setFault}>
            <Router>
              {routes.map(({ path: pattern, Component }) => (
                <Route key={pattern} path={pattern} component={Component} />
              ))}
              <Route default component={NotFound} />
            </Router>
          </ErrorBoundary>
        ) : (
          <NotFound />
        )}
      </main>
      <Footer />
      <HelpDialog />
      <PendingSheet />
      <Announcer />
    </>
  );
}

/** The whole page. */
export function App() {
  return (
    <LocationProvider scope={/^\/(\?|$|console(\/|\?|$))/}>
      <Frame />
    </LocationProvider>
  );
}
