import { errorOutline } from './error-outline.js';

describe('errorOutline', () => {
  it('has name, code and places, never the message', () => {
    const error = Object.assign(new RangeError('text of a customer\n    over lines'), { code: '22P05' });
    const outline = errorOutline(error);
    expect(outline).toMatchObject({ name: 'RangeError', code: '22P05' });
    expect(outline.at[0]).toContain('error-outline.spec');
    expect(JSON.stringify(outline)).not.toContain('customer');
  });

  it('has only the type of anything else', () => {
    expect(errorOutline('text of a customer')).toEqual({ name: 'string', at: [] });
  });
});
