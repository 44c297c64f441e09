import { useEffect, useState } from "preact/hooks";
import type { SettingInForce } from "../../operator/reports.ts";
import { saidWith } from "../text/format.ts";

/** The words for a setting in the language of the page. */
export interface SettingTexts {
  meaningOf(setting: Pick<SettingInForce, "key" | "meaning">): string;
  ruleOf(setting: Pick<SettingInForce, "rule">): string;
}

/** The words for settings: those of the node in English; undefined until they are here, which are many in other languages. */
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
        // Bounds as a setting is typed.
        ruleOf: ({ rule }) => saidWith(forms, rule, (value) => value),
      });
    });
  }, []);
  return texts;
}
