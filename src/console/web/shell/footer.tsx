import { pageConfig } from "../page-config.ts";
import { type Theme, theme } from "./preferences.ts";
import { isHelpOpen } from "./shortcuts.ts";

/** What belongs to no page: version, theme, help. */
export function Footer() {
  return (
    <footer class="foot">
      <span>
        {pageConfig.service} {pageConfig.version}
      </span>
      <a href="/docs" target="_self">
        API
      </a>
      <a href="/console/status">Status</a>
      <button
        type="button"
        class="btn quiet"
        onClick={() => {
          isHelpOpen.value = true;
        }}
      >
        Keyboard
      </button>
      <label class="row">
        Theme
        <select
          value={theme.value}
          onChange={(event) => {
            theme.value = event.currentTarget.value as Theme;
          }}
        >
          <option value="auto">like the system</option>
          <option value="light">light</option>
          <option value="dark">dark</option>
        </select>
      </label>
    </footer>
  );
}
