import type { ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ErrorBoundary, LocationProvider, lazy, Route, Router, useLocation } from "preact-iso";
import { refreshLists } from "../data/pages.ts";
import { refreshShown } from "../data/query.ts";
import { apiKey, isApiKeyWanted } from "../data/request.ts";
import { chunkFailure, loadChunk } from "../data/stale-chunk.ts";
import { DemoLayer } from "../demo/demo-layer.tsx";
import { Icon } from "../icons/icons.tsx";
import { PendingSheet, WalletButton } from "../owner/owner-parts.tsx";
import { pageConfig } from "../page-config.ts";
import { isPageServed } from "../page-settings.ts";
import { Announcer } from "../parts/copy.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { pages, type Section } from "../routes.ts";
import * as msg from "../text/en/common.ts";
import { readEntry } from "../text/page-paths.ts";
import { Footer } from "./footer.tsx";
import { isHelpOpen, startShortcuts } from "./shortcuts.ts";

const TYPING_MS = 150;

/** The search box of every page. On the search page it searches while typing; elsewhere Enter goes there. */
function SearchBox() {
  const { path, query, route } = useLocation();
  const isSearchPage = path === "/console/search";
  const [text, setText] = useState(query.q ?? "");
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    if (!isSearchPage) setText("");
  }, [isSearchPage]);
  const go = (value: string, replace: boolean) => {
    const kept = query.in === undefined ? "" : `&in=${encodeURIComponent(query.in)}`;
    route(`/console/search?q=${encodeURIComponent(value)}${isSearchPage ? kept : ""}`, replace);
  };
  return (
    <search>
      <form
        class="find"
        onSubmit={(event) => {
          event.preventDefault();
          clearTimeout(timer.current);
          const entry = readEntry(text);
          if (entry.kind === "page") {
            setText("");
            route(entry.page);
          } else if (entry.kind !== "empty") go(text.trim(), isSearchPage);
        }}
      >
        <Icon name="search" />
        <input
          name="q"
          aria-label={msg.searchPeopleCastsChannelsHashes}
          placeholder={msg.searchPeopleCastsChannels}
          autoComplete="off"
          spellcheck={false}
          value={text}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value);
            clearTimeout(timer.current);
            if (isSearchPage)
              timer.current = setTimeout(() => go(currentTarget.value.trim(), true), TYPING_MS);
          }}
        />
        <kbd>/</kbd>
      </form>
    </search>
  );
}

const SECTIONS: readonly { readonly section: Section; readonly href: string; readonly label: string }[] = [
  { section: "explore", href: "/console", label: msg.explore },
  { section: "stream", href: "/console/stream", label: msg.stream },
  { section: "manage", href: "/console/manage", label: msg.manage },
  { section: "status", href: "/console/status", label: msg.status },
];

/** Returns the section of the page at a path; undefined if this node has no such page. */
function sectionOf(path: string): Section | undefined {
  const segments = path.split("/");
  const isAt = (pattern: string) => {
    const parts = pattern.split("/");
    return (
      parts.length === segments.length && parts.every((part, at) => part[0] === ":" || part === segments[at])
    );
  };
  const page = pages.find((one) => isAt(one.path));
  return page && isPageServed(page.path, pageConfig) ? page.section : undefined;
}

/** The header row of every page. */
function Bar() {
  const { path } = useLocation();
  const current = sectionOf(path);
  const shown = SECTIONS.filter(({ href }) => isPageServed(href, pageConfig));
  return (
    <header class="bar">
      <a class="brand" href="/">
        <Icon name="broadcast" size={22} /> {pageConfig.service}
      </a>
      <nav aria-label={msg.main}>
        {shown.map(({ section, href, label }) => (
          <a href={href} key={section} aria-current={section === current ? "page" : undefined}>
            {label}
          </a>
        ))}
        <a href="/docs" target="_self" data-native>
          {msg.api}
        </a>
      </nav>
      <SearchBox />
      <WalletButton />
    </header>
  );
}

/** Shown for a path that the console does not have. */
function NotFound() {
  return (
    <>
      <PageHead title={msg.pageNotFound} />
      <p>{msg.goToOrSearchForA(<a href="/console">{msg.explore}</a>)}</p>
    </>
  );
}

/** Asks for an API key, which stays in memory. */
function ApiKeyNotice() {
  const [text, setText] = useState("");
  if (!isApiKeyWanted.value) return null;
  return (
    <form
      class="notice"
      onSubmit={(event) => {
        event.preventDefault();
        apiKey.value = text.trim();
        isApiKeyWanted.value = false;
        refreshShown();
        refreshLists();
      }}
    >
      <label for="api-key" class="grow">
        {apiKey.value === undefined ? msg.thisNodeRequiresAnApiKey : msg.theNodeRefusedTheApiKey}{" "}
        {pageConfig.manage && <a href="/console/manage/keys">{msg.whereApiKeysAreMade}</a>}
      </label>
      <input
        id="api-key"
        type="password"
        autoComplete="off"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit" class="btn">
        {msg.useIt}
      </button>
    </form>
  );
}

/** The pages that this node serves; others are 404. */
const routes = pages
  .filter(({ path }) => isPageServed(path, pageConfig))
  .map(({ path, load }) => ({ path, Component: lazy(async () => (await loadChunk(load)).Page) }));

/** Reports whether all segments of the path can be decoded. */
function isWellFormed(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** The help, which is loaded on demand. */
function Help() {
  const [HelpDialog, setHelpDialog] = useState<ComponentType>();
  const isOpen = isHelpOpen.value;
  useEffect(() => {
    if (!isOpen || HelpDialog) return;
    loadChunk(() => import("./help-dialog.tsx")).then(
      (chunk) => setHelpDialog(() => chunk.HelpDialog),
      () => {
        isHelpOpen.value = false;
      },
    );
  }, [isOpen, HelpDialog]);
  return HelpDialog && isOpen ? <HelpDialog /> : null;
}

function ChunkNotice() {
  if (chunkFailure.value === undefined) return null;
  return (
    <div class="notice" role="alert">
      <span class="grow">
        {chunkFailure.value === "updated" ? msg.theNodeWasUpdatedThisTab : msg.theNodeDoesNotRespondThe}
      </span>
      <button type="button" class="btn" onClick={() => location.reload()}>
        {msg.reload}
      </button>
    </div>
  );
}

function Frame() {
  const { path, route } = useLocation();
  const [fault, setFault] = useState<Error>();
  // The function changes with each address; a chord may start on one page and end on the next.
  const navigate = useRef(route);
  navigate.current = route;
  useEffect(() => startShortcuts((to) => navigate.current(to)), []);
  useEffect(() => setFault(undefined), [path]);
  return (
    <>
      <a class="skip" href="#main">
        {msg.skipToContent}
      </a>
      <Bar />
      <ChunkNotice />
      <ApiKeyNotice />
      <DemoLayer />
      <main class="page" id="main">
        {fault ? (
          <p class="failure" role="alert">
            <b>{msg.thisPageFailed}</b> {fault.message}
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
      <Help />
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
