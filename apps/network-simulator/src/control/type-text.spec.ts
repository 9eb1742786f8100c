import { z } from 'zod';
import { typeText, type Schema } from './type-text.js';

const textOf = (schema: z.ZodType): string => typeText(z.toJSONSchema(schema, { io: 'input' }) as Schema);

describe('types as people read them', () => {
  it('shows fields, which of them may be left out, defaults and descriptions', () => {
    const schema = z.object({
      to: z.string().describe('Who gets it.'),
      count: z.number().int().default(1),
      kinds: z.array(z.enum(['a', 'b'])).optional(),
      more: z.record(z.string(), z.boolean()),
    });
    expect(textOf(schema)).toBe(`{
  to: string; // Who gets it.
  count?: number; // Without it: 1.
  kinds?: ("a" | "b")[];
  more: { [name]: boolean };
}`);
  });

  it('shows one of several', () => {
    expect(textOf(z.union([z.literal('x'), z.object({ kind: z.literal('y') })]))).toBe('"x" | {\n  kind: "y";\n}');
  });
});
