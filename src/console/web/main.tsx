import { render } from "preact";
import { LocationProvider, lazy, Route, Router } from "preact-iso";
import { pages } from "./routes.ts";

const routes = pages.map(({ path, load }) => (
  <Route key={path} path={path} component={lazy(async () => (await load()).Page)} />
));
const app = document.getElementById("app");
if (app) {
  app.replaceChildren();
  render(
    <LocationProvider>
      <Router>{routes}</Router>
    </LocationProvider>,
    app,
  );
}
