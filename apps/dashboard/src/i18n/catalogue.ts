import type { catalogue } from './en/catalogue.js';

/** The same keys with a text for each. */
export type Texts<Of> = { readonly [Key in keyof Of]: Of[Key] extends string ? string : Texts<Of[Key]> };

/** All texts of a language by area. English is the one that the others are compared with. */
export type Catalogue = Texts<typeof catalogue>;
