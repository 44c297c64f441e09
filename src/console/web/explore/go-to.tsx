import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { searchPage } from "../text/client-urls.ts";
import { readEntry } from "../text/search-entry.ts";

/** A field that opens what is put into it: a person, a cast, a channel, an address. */
export function GoTo() {
  const { route } = useLocation();
  const [text, setText] = useState("");
  function submit(event: Event) {
    event.preventDefault();
    const entry = readEntry(text);
    if (entry.kind === "empty") return;
    route(entry.kind === "page" ? entry.page : searchPage(text.trim()));
  }
  return (
    <section class="card" aria-labelledby="go-to">
      <form class="pad stack s" onSubmit={submit}>
        <label for="go-to-text" id="go-to">
          <b>Go to</b>
        </label>
        <div class="row">
          <input
            id="go-to-text"
            class="grow"
            autoComplete="off"
            spellcheck={false}
            value={text}
            placeholder="@name, fid, hash, /channel"
            aria-describedby="go-to-hint"
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
          <button type="submit" class="btn">
            Open
          </button>
        </div>
        <span class="xs dim" id="go-to-hint">
          Also an address, or a link to a cast, a person or a channel.
        </span>
      </form>
    </section>
  );
}
