import { readPhoneNumber } from './contacts.js';

describe('readPhoneNumber', () => {
  it.each([
    ['+65 9456 8237'],
    ['(65) 9456-8237'],
    ['\u202a+65 9456 8237\u202c'],
    ['\u200e+65 9456 8237'],
    ['\u2068+65 9456 8237\u2069'],
    ['\ufeff+65\u00a09456\u00a08237'],
    ['65\u200b9456\u200d8237\u2060'],
    ['\u00ad6594568237\ufe0f'],
    ['+65\u20099456\u202f8237'],
    ['65\u20119456\u20138237'],
    ['65\u22129456\u2014\uff0d8237'],
    ['65/9456.8237'],
    ['[65] 9456\u00b78237'],
    ['0065 9456 8237'],
    ['\uff0b\uff16\uff15\u3000\uff19\uff14\uff15\uff16\uff08\uff18\uff12\uff13\uff17\uff09'],
    ['+\u0666\u0665 \u0669\u0664\u0665\u0666 \u0668\u0662\u0663\u0667'],
    ['\u06f6\u06f5\u06f9\u06f4\u06f5\u06f6\u06f8\u06f2\u06f3\u06f7'],
    ['\u096c\u096b\u096f\u096a\u096b\u096c\u096e\u0968\u0969\u096d'],
    ['\u0e56\u0e55\u0e59\u0e54\u0e55\u0e56\u0e58\u0e52\u0e53\u0e57'],
    ['tel:+65-9456-8237'],
    ['TEL:+6594568237;ext=102;phone-context=example.com'],
    ['tel:00-65-9456-8237'],
    ['6594568237@s.whatsapp.net'],
  ])('reads %j', (typed) => expect(readPhoneNumber(typed)).toBe('6594568237'));

  it('knows every digit there is', () => {
    const zeros = Array.from({ length: 0x1fffff >> 4 }, (_, block) => [block * 16, block * 16 + 6]).flat();
    const isDigit = (code: number) => code < 0x110000 && /\p{Nd}/u.test(String.fromCodePoint(code));
    const scripts = zeros.filter((zero) => [0, 9].every((value) => isDigit(zero + value)) && !isDigit(zero - 1));
    expect(scripts.length).toBeGreaterThan(60);
    for (const zero of scripts) {
      const typed = [6, 5, 9, 4, 5, 6, 8, 2, 3, 7].map((value) => String.fromCodePoint(zero + value)).join('');
      expect(readPhoneNumber(typed)).toBe('6594568237');
    }
  });

  it.each([
    '',
    'call me',
    '+',
    '123456',
    '1234567890123456',
    '65a94568237',
    '6594568237@c.us',
    'tel:',
    '65\u000094568237',
    '\ud800',
    '6'.repeat(300),
  ])('finds no number in %j', (typed) => expect(readPhoneNumber(typed)).toBeUndefined());

  it('costs no more than its length', () => {
    const start = process.cpuUsage(); // not the time of day: the machine may be busy
    for (const part of ['+', ';', '@', 'tel:', '00', '\ufdfa'])
      for (let round = 0; round < 100; round += 1) readPhoneNumber(part.repeat(256).slice(0, 256));
    expect(process.cpuUsage(start).user / 1_000).toBeLessThan(1_000);
  });
});
