import { pageConfig } from "../page-config.ts";
import { isLanguage, LANGUAGES } from "../page-settings.ts";
import * as msg from "../text/en/common.ts";
import { chooseLanguage } from "../text/language.ts";
import { language } from "../text/locale.ts";
import { isHelpOpen, type Theme, theme } from "./shortcuts.ts";

/** Common to all pages: version, theme, language, help. */
export function Footer() {
  return (
    <footer class="foot">
      <span>
        {pageConfig.service} {pageConfig.version}
      </span>
      <a href="/docs" target="_self">
        {msg.api}
      </a>
      <a href="/console/status">{msg.status}</a>
      <button
        type="button"
        class="btn quiet"
        onClick={() => {
          isHelpOpen.value = true;
        }}
      >
        {msg.keyboard}
      </button>
      <label class="row">
        {msg.theme}
        <select
          value={theme.value}
          onChange={(event) => {
            theme.value = event.currentTarget.value as Theme;
          }}
        >
          <option value="auto">{msg.system}</option>
          <option value="light">{msg.light}</option>
          <option value="dark">{msg.dark}</option>
        </select>
      </label>
      <label class="row">
        {msg.languageOfThePage}
        <select
          value={language}
          onChange={({ currentTarget: { value } }) => {
            if (isLanguage(value)) chooseLanguage(value);
          }}
        >
          {Object.entries(LANGUAGES).map(([name, words]) => (
            <option value={name} lang={name} key={name}>
              {words}
            </option>
          ))}
        </select>
      </label>
    </footer>
  );
}
