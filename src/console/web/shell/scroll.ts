/** How long a page may take to reach its previous height. */
const GIVE_UP_MS = 5000;

interface EntryState {
  readonly scrollTop?: number;
}

let end: (() => void) | undefined;

/** Stores the scroll position in the page's history entry. */
function store(): void {
  if (end) return;
  const scrollTop = Math.round(scrollY);
  const state = (history.state ?? {}) as EntryState;
  if (state.scrollTop !== scrollTop) history.replaceState({ ...state, scrollTop }, "");
}

/** Scrolls to the position of the history entry, once the page is high enough; any action of the visitor ends this. */
function restore(): void {
  end?.();
  const { scrollTop = 0 } = (history.state ?? {}) as EntryState;
  if (scrollTop === 0) return;
  const stop = new AbortController();
  const tryNow = () => {
    if (document.documentElement.scrollHeight < scrollTop + innerHeight) return;
    scrollTo({ top: scrollTop, behavior: "instant" });
    end?.();
  };
  const observer = new ResizeObserver(tryNow);
  const timer = setTimeout(() => end?.(), GIVE_UP_MS);
  end = () => {
    observer.disconnect();
    clearTimeout(timer);
    stop.abort();
    end = undefined;
  };
  for (const event of ["wheel", "touchstart", "keydown", "pointerdown"])
    addEventListener(event, () => end?.(), { signal: stop.signal, passive: true });
  observer.observe(document.body);
}

/** Remembers the scroll position of each history entry for going back and for reloads: the browser restores it too early. */
export function startScrollMemory(): void {
  history.scrollRestoration = "manual";
  let timer: ReturnType<typeof setTimeout> | undefined;
  addEventListener(
    "scroll",
    () => {
      clearTimeout(timer);
      timer = setTimeout(store, 150);
    },
    { passive: true },
  );
  // A link may be clicked while the page still scrolls.
  addEventListener("click", store, { capture: true });
  addEventListener("pagehide", store);
  addEventListener("popstate", () => {
    clearTimeout(timer);
    restore();
  });
  restore();
}
