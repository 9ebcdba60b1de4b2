// Types that all pages name. Those of the API go by their names in docs/openapi.json, as in
// `Api['Event']`; scripts/check makes what is imported here from that document.
import type { components } from '../scripts/web/types/api';

declare global {
  type Api = components['schemas'];

  /** What an element may hold; what is not there is left out. */
  type Child = Node | string | false | null | undefined;
  type Children = Child | readonly Children[];
}
