import { pageConfig } from "../page-config.ts";
import { Field } from "../parts/form.tsx";
import * as msg from "../text/en/operator/notices.ts";
import { anHttpsUrl } from "../text/en/parts.ts";

/** Reports whether the node may call a URL, as far as the page can tell: the node decides about its host. */
export function isHookUrl(text: string): boolean {
  const protocol = URL.parse(text.trim())?.protocol;
  return protocol === "https:" || (pageConfig.allowHttp && protocol === "http:");
}

/** The URL of a hook. What the node would refuse at once is reported before anything is signed. */
export function HookUrlField({ value, onInput }: { value: string; onInput: (value: string) => void }) {
  const problem = value.trim() === "" || isHookUrl(value) ? undefined : anHttpsUrl;
  return (
    <Field label={msg.url} name="notice-url" type="url" value={value} onInput={onInput} problem={problem} />
  );
}
