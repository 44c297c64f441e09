import { useEffect, useState } from "preact/hooks";
import type { SettingInForce } from "../../operator/reports.ts";
import { saidWith } from "../text/format.ts";

/** The texts of settings in the page's language. */
export interface SettingTexts {
  meaningOf(setting: Pick<SettingInForce, "key" | "meaning">): string;
  ruleOf(setting: Pick<SettingInForce, "rule">): string;
}

/** Returns the texts of settings: in English those of the node; undefined while another language's, which are many, are loading. */
export function useSettingTexts(): SettingTexts | undefined {
  const [texts, setTexts] = useState<SettingTexts>();
  useEffect(() => {
    const meanings = Promise.all([
      import("../text/en/settings/serving.ts").then(({ SERVING }) => SERVING),
      import("../text/en/settings/following.ts").then(({ FOLLOWING }) => FOLLOWING),
      import("../text/en/settings/apps.ts").then(({ APPS }) => APPS),
      import("../text/en/settings/operating.ts").then(({ OPERATING }) => OPERATING),
    ]);
    const rules = import("../text/en/settings/rules.ts").then(({ RULES }) => RULES);
    void Promise.all([meanings, rules]).then(([parts, forms]) => {
      const meaningOfKey = Object.assign({}, ...parts) as Readonly<Record<string, string>>;
      setTexts({
        meaningOf: ({ key, meaning }) => meaningOfKey[key] ?? meaning,
        // Bounds in the form in which a setting is entered.
        ruleOf: ({ rule }) => saidWith(forms, rule, (value) => value),
      });
    });
  }, []);
  return texts;
}
