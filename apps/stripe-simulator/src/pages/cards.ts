import { CARDS, findCard } from '../money/cards.js';
import type { World } from '../world/world.js';
import { html, type Html } from './html.js';

/** The value of the choice to pay with the card that is on file. */
export const ON_FILE = 'on_file';

/** The cards that can be picked, with the one on file first if there is one. */
export function cardChoices(onFile?: string): Html {
  const kept = onFile === undefined ? [] : [choice(ON_FILE, `Card on file: ${onFile}`, true)];
  const others = CARDS.map(({ token, label, number }, index) =>
    choice(token, `${label} (${number.replace(/(.{4})(?=.)/g, '$1 ')})`, kept.length === 0 && index === 0),
  );
  return html`<fieldset>
    <legend>Card</legend>
    ${[...kept, ...others]}
  </fieldset>`;
}

function choice(value: string, label: string, isChosen: boolean): Html {
  return html`<label
    ><input type="radio" name="card" value="${value}" required ${isChosen && html`checked`} /> ${label}</label
  >`;
}

/** How a card is named on pages; undefined when there is none. */
export function cardName(world: World, method: string | null): string | undefined {
  const card = findCard(world.store.paymentMethods.get(method ?? '')?.cardToken ?? '');
  return card && `${card.brand} ending in ${card.number.slice(-4)}`;
}

/** The step of a bank that wants the payment confirmed: the same form once more, with a yes or a no. */
export function confirmation(action: string, fields: Record<string, string>, amount: string): Html {
  const hidden = Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
  );
  return html`<form method="post" action="${action}">
    <h2>Confirm this payment</h2>
    <p>Your bank wants you to confirm the payment of ${amount}.</p>
    ${hidden}
    <button name="confirmed" value="yes">Confirm payment</button>
    <button class="quiet" name="confirmed" value="no">Refuse payment</button>
  </form>`;
}
