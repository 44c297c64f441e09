import { useEffect, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { Icon } from "../icons.tsx";
import { readEntry } from "../text/search-entry.ts";

const TYPING_MS = 150;

/** The search of every page. On the search page it searches while one types; elsewhere Enter goes there. */
export function SearchBox() {
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
          aria-label="Search people, casts, channels, hashes"
          placeholder="Search people, casts, channels"
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
