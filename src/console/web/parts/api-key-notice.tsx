import { useState } from "preact/hooks";
import { refreshLists } from "../data/pages.ts";
import { refreshShown } from "../data/query.ts";
import { apiKey, isApiKeyWanted } from "../data/request.ts";

/** Asks for an API key, which stays in memory. */
export function ApiKeyNotice() {
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
        This node asks for an API key. It stays in this tab and is stored nowhere.
      </label>
      <input
        id="api-key"
        type="password"
        autoComplete="off"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit" class="btn">
        Use it
      </button>
    </form>
  );
}
