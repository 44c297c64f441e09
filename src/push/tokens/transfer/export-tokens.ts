import type { TokenPosition, TokenStore } from "../../store/token-store.ts";
import { listToken } from "./listed-token.ts";

const PAGE_TOKENS = 1000;

/** Yields the tokens of an app as the text of one list page. Rows without a token are left out. */
export async function* exportTokens(store: Pick<TokenStore, "list">, appId: string): AsyncGenerator<string> {
  yield '{"notification_tokens":[';
  let separator = "\n";
  let after: TokenPosition | undefined;
  for (;;) {
    const records = await store.list({ appId, after, max: PAGE_TOKENS });
    let part = "";
    for (const record of records) {
      if (record.details === null) continue;
      part += separator + JSON.stringify(listToken(record));
      separator = ",\n";
    }
    yield part;
    if (records.length < PAGE_TOKENS) break;
    after = records.at(-1);
  }
  yield '\n],"next":{"cursor":null}}\n';
}
