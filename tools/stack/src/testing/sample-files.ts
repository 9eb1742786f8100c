/** Small files of every kind, for journeys and benchmarks. */
import { PNG } from 'pngjs';

export interface SampleFile {
  type: string;
  bytes: Buffer;
}

/** A picture with a little of every colour. */
export function picture(width: number, height: number): SampleFile {
  const png = new PNG({ width, height });
  for (let at = 0; at < png.data.length; at += 4) {
    png.data.set([at % 251, (at >> 4) % 241, (at >> 8) % 239, 255], at);
  }
  return { type: 'image/png', bytes: PNG.sync.write(png) };
}

/** A tone, uncompressed (16 kHz, mono): what no phone plays as a voice message. */
export function tone(seconds: number, hertz = 440): SampleFile {
  const rate = 16_000;
  const samples = Buffer.alloc(seconds * rate * 2);
  for (let at = 0; at < seconds * rate; at += 1) {
    samples.writeInt16LE(Math.round(12_000 * Math.sin((at * 2 * Math.PI * hertz) / rate)), at * 2);
  }
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + samples.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(samples.length, 40);
  return { type: 'audio/wav', bytes: Buffer.concat([head, samples]) };
}

/** A PDF with two pages. */
export const PDF: SampleFile = { type: 'application/pdf', bytes: pdf() };

function pdf(): Buffer {
  const page = '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] >>';
  const objects = ['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 >>', page, page];
  let text = '%PDF-1.4\n';
  const places = objects.map((object, at) => {
    const place = text.length;
    text += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(place).padStart(10, '0')} 00000 n \n`;
  });
  const size = objects.length + 1;
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${places.join('')}`;
  const end = `trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`;
  return Buffer.from(text + table + end);
}

/** A film of a second, 64 by 36. */
export const FILM: SampleFile = {
  type: 'video/mp4',
  bytes: Buffer.from(
    'AAAAIGZ0eXBpc29tAAACAGlzb21pc28yYXZjMW1wNDEAAAXGbW9vdgAAAGxtdmhkAAAAAAAAAAAAAAAAAAAD6AAABGgAAQAAAQAA' +
      'AAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAwAA' +
      'AoN0cmFrAAAAXHRraGQAAAADAAAAAAAAAAAAAAABAAAAAAAAA+gAAAAAAAAAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAABAAAA' +
      'AAAAAAAAAAAAAABAAAAAAEAAAAAkAAAAAAAkZWR0cwAAABxlbHN0AAAAAAAAAAEAAAPoAAAQAAABAAAAAAH7bWRpYQAAACBtZGhk' +
      'AAAAAAAAAAAAAAAAAAAoAAAAKABVxAAAAAAALWhkbHIAAAAAAAAAAHZpZGUAAAAAAAAAAAAAAABWaWRlb0hhbmRsZXIAAAABpm1p' +
      'bmYAAAAUdm1oZAAAAAEAAAAAAAAAAAAAACRkaW5mAAAAHGRyZWYAAAAAAAAAAQAAAAx1cmwgAAAAAQAAAWZzdGJsAAAAqnN0c2QA' +
      'AAAAAAAAAQAAAJphdmMxAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAEAAJABIAAAASAAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAAAA' +
      'AAAAAAAAAAAAAAAAAAAAGP//AAAANGF2Y0MBZAAK/+EAGmdkAAqscgREf58BEAAAAwAQAAADAKDxIlhGAQAHaOhDgTSyLAAAABBw' +
      'YXNwAAAAAQAAAAEAAAAYc3R0cwAAAAAAAAABAAAABQAACAAAAAAUc3RzcwAAAAAAAAABAAAAAQAAABhjdHRzAAAAAAAAAAEAAAAF' +
      'AAAQAAAAAChzdHNjAAAAAAAAAAIAAAABAAAAAgAAAAEAAAACAAAAAQAAAAEAAAAoc3RzegAAAAAAAAAAAAAABQAAA5sAAAAZAAAA' +
      'IgAAAB8AAAAeAAAAIHN0Y28AAAAAAAAABAAABfYAAAoxAAALSwAADGoAAAJtdHJhawAAAFx0a2hkAAAAAwAAAAAAAAAAAAAAAgAA' +
      'AAAAAARoAAAAAAAAAAAAAAABAQAAAAABAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAJGVkdHMA' +
      'AAAcZWxzdAAAAAAAAAABAAAD6AAABAAAAQAAAAAB5W1kaWEAAAAgbWRoZAAAAAAAAAAAAAAAAAAAH0AAACNAVcQAAAAAAC1oZGxy' +
      'AAAAAAAAAABzb3VuAAAAAAAAAAAAAAAAU291bmRIYW5kbGVyAAAAAZBtaW5mAAAAEHNtaGQAAAAAAAAAAAAAACRkaW5mAAAAHGRy' +
      'ZWYAAAAAAAAAAQAAAAx1cmwgAAAAAQAAAVRzdGJsAAAAanN0c2QAAAAAAAAAAQAAAFptcDRhAAAAAAAAAAEAAAAAAAAAAAACABAA' +
      'AAAAH0AAAAAAADZlc2RzAAAAAAOAgIAlAAIABICAgBdAFQAAAAAAH5UAAB+VBYCAgAUViFblAAaAgIABAgAAACBzdHRzAAAAAAAA' +
      'AAIAAAAIAAAEAAAAAAEAAANAAAAANHN0c2MAAAAAAAAAAwAAAAEAAAABAAAAAQAAAAIAAAACAAAAAQAAAAQAAAAEAAAAAQAAADhz' +
      'dHN6AAAAAAAAAAAAAAAJAAAAhwAAAIMAAAB1AAAAgwAAAH0AAAB3AAAAgAAAAHsAAACDAAAAIHN0Y28AAAAAAAAABAAACaoAAApT' +
      'AAALagAADIgAAAAac2dwZAEAAAByb2xsAAAAAgAAAAH//wAAABxzYmdwAAAAAHJvbGwAAAABAAAACQAAAAEAAABidWR0YQAAAFpt' +
      'ZXRhAAAAAAAAACFoZGxyAAAAAAAAAABtZGlyYXBwbAAAAAAAAAAAAAAAAC1pbHN0AAAAJal0b28AAAAdZGF0YQAAAAEAAAAATGF2' +
      'ZjU4LjI0LjEwMAAAAAhmcmVlAAAIj21kYXQAAAKvBgX//6vcRem95tlIt5Ys2CDZI+7veDI2NCAtIGNvcmUgMTU3IHIyOTM1IDU0' +
      'NWRlMmYgLSBILjI2NC9NUEVHLTQgQVZDIGNvZGVjIC0gQ29weWxlZnQgMjAwMy0yMDE4IC0gaHR0cDovL3d3dy52aWRlb2xhbi5v' +
      'cmcveDI2NC5odG1sIC0gb3B0aW9uczogY2FiYWM9MSByZWY9MTYgZGVibG9jaz0xOjA6MCBhbmFseXNlPTB4MzoweDEzMyBtZT11' +
      'bWggc3VibWU9MTAgcHN5PTEgcHN5X3JkPTEuMDA6MC4wMCBtaXhlZF9yZWY9MSBtZV9yYW5nZT0yNCBjaHJvbWFfbWU9MSB0cmVs' +
      'bGlzPTIgOHg4ZGN0PTEgY3FtPTAgZGVhZHpvbmU9MjEsMTEgZmFzdF9wc2tpcD0xIGNocm9tYV9xcF9vZmZzZXQ9LTIgdGhyZWFk' +
      'cz0xIGxvb2thaGVhZF90aHJlYWRzPTEgc2xpY2VkX3RocmVhZHM9MCBucj0wIGRlY2ltYXRlPTEgaW50ZXJsYWNlZD0wIGJsdXJh' +
      'eV9jb21wYXQ9MCBjb25zdHJhaW5lZF9pbnRyYT0wIGJmcmFtZXM9OCBiX3B5cmFtaWQ9MiBiX2FkYXB0PTIgYl9iaWFzPTAgZGly' +
      'ZWN0PTMgd2VpZ2h0Yj0xIG9wZW5fZ29wPTAgd2VpZ2h0cD0yIGtleWludD0yNTAga2V5aW50X21pbj01IHNjZW5lY3V0PTQwIGlu' +
      'dHJhX3JlZnJlc2g9MCByY19sb29rYWhlYWQ9NjAgcmM9Y3JmIG1idHJlZT0xIGNyZj00NS4wIHFjb21wPTAuNjAgcXBtaW49MCBx' +
      'cG1heD02OSBxcHN0ZXA9NCBpcF9yYXRpbz0xLjQwIGFxPTE6MS4wMACAAAAA5GWIgQAT/12Xjf3EFflpRslk89MBAs2N/Ic9HCFS' +
      'JkA/X1iQ3R3iSN4EXSjumwsJkuia/8FZG7dVdnec0Z7myIJhN5Yne0YHs/yPLZM+Lk/Kc/dcFUTDJG/ERqUaZj5ynvJPYkaemlTP' +
      'BeGp7QhWkEcOsJStHafXgts3+mASrEMEA3NjELMlVVDHgIKb8MdZgFJGR6Pg990lDpfXt4As8xpmHTErsQhYFBZL8ppvGCWY9M8X' +
      'zRWbv535CsGDqn1DKrnaJa15ivEanl1fGilOuCTbIj/FXpfd6nilZ5U/R9vP8E/l4QAAABVBmggtiT+yRmS+84ih0YW9Sc5a+Kre' +
      'AgBMYXZjNTguNDIuMTAwAAI8m1NQ4HFVnzW/HtqIgGVZzlWJyrKc6ynOsp2racq2nKtpyracVlOKynFZTisTisTlWJsU7YrDYrCE' +
      'SaJNGSjJRkoyUZNKWVVTVT8u9zZcDdpVwpRJokYkIkokoEoGBgYGBgYGNmzcsqKWWWWWWWWWWWXF34AAAAAeQZoQS/AgZMphN7mR' +
      'DQgaea+ERWWB7k8qcyMA7Nj5ASqU2F2gpOyMBErTEqStNgfzz62++tZy+33eevL7en2+9/XXQFr7taGWCwdeB8MPWdwUNBnc1DNn' +
      'dUtIjHRs9miMUQHn5p550bcZzhnOK7bLQa7feXHX1R3rvPcap55555555555555+aeeeeeef5ToW9XLpYB3M51tXTW1dNdLs7cAA' +
      '7u2pFjYRFBLN5696AJcCXI8d6r1WwksrNx7q3Go4oWRznacTYWoDLOmzZsqKRBBFMmSQYgjTJs2bGg3nOeNfuP/EiEZEpyKmkYZ7' +
      'MxxD1PlcgQpxAdI8a8W7FxWmf57RbHHHHFkL39/cZPhsO+5A/wYDOBwAAAAbQZoYaTwIHkymBEe7h2rLJnc68slZWZ8ik++AAOot' +
      'iGxrCxyIZmgzn+Ht97gAACGc+WOerY5idbOZM7V0vZW1dNdNeuumvXu+5GRvzztVJaj4LE/h/9FCeF3UtkOgbsTfn793Xu192vdr' +
      '3U101tXTXTXTXS9NrOxMRk1pqpMV88888/Nl2K5phn6oVLRxlS0kvcujW80WacMFkq1yz4AA6C2IrEsLEQpoWGb/h1+NAAAM2JMW' +
      'VAEmHly/axZku9Yzyzysyzy7PKsLC7ibKRPo3vMl+EH5wEuB7KWoqokLCx4+Xx6s8vHy55dMs8s8rMrIAwMDF6jAzIGL5iwZjA5A' +
      'MzjVIzhTR95Q3ZgEFEHsLI8kQt1M4R0JI7N58AAAABpBmiCJfAgfkymARn/E7pity+2LANJOQEY1gQDuLYiMWwsQimhqDe/2zj99' +
      'AQADBazSs3UL+nQlaCjtIgzSTPNJNI0k0mjUgo7QRQMjynnRD7QeEiGwlWpAeRFBQdGrRJNJo1TSTSTSTSTOj0UbtdFFFC9ZqDa9' +
      'btDesLI9eiySjGyImj7C6O1aRpXnBSc1Mk+AAOYtkLBLDBEKKAFf0fXwAAA9x7LCVzG8Svck7a8WhVChDBDAjgwypNlY6r9fiWpc' +
      'EO9aWIJWPmqT8bfgtJxeS8VoVwYYIYNTqtTZWNlJwScEMEKUMCcA4P9XFrxIlevEiwgZeLeM969QgGXN+W66iFyM7yQ4WLiN7ShH' +
      'Hl7YJycBCi2hNhYpHApSt81n5/W7RACs29K0u52JZ8e0k29xNx7Diy5VplzsSzv5Em3yJs+Req5URMRCb7EJbCM+QTPkRcewR5DI' +
      'SwDbKeRPRo8baM69lj5X1ZUy3NLcilCvOowYw2npq09Xdf1aemrTX3Xx49NV1cl6sVqZWOABJC2hjDJIDFZXdb+341JECA2MzdWN' +
      'bwqet2U/c2XHwbjXbGZtrHi21nm3TeLZX8mRbXLGNYvNJk0i2Un6KEZkidJvcKHg60BS6yqhitDmyn2YCsFmrHG2SmJKUc6K1mcW' +
      'a/Py3Ofj6ZWufm3Oc0GVrnm3OQwPtc8zrkMCGm5lsVAjgA==',
    'base64',
  ),
};

/** A second of Opus in Ogg, as phones record. */
export const OPUS: SampleFile = {
  type: 'audio/ogg; codecs=opus',
  bytes: Buffer.from(
    'T2dnUwACAAAAAAAAAACrUbU2AAAAAMk5QXMBE09wdXNIZWFkAQFoAIA+AAAAAABPZ2dTAAAAAAAAAAAAAKtRtTYBAAAAsUdW8gE+' +
      'T3B1c1RhZ3MNAAAATGF2ZjU4LjI0LjEwMAEAAAAdAAAAZW5jb2Rlcj1MYXZjNTguNDIuMTAwIGxpYm9wdXNPZ2dTAAS4vAAAAAAA' +
      'AKtRtTYCAAAACKq8bhErKi4sKjEpLiwlIyMhIiIjIBjgz9f0Bz9mt1Wx0NtVaPoiKpjS6hxB1pe4fh3RugJ6QRMG7bPVSvHLh1UY' +
      '6E40HoR09h6ygNJCw6nAS7IxC0K21ft0zRYX6cMzpp6LvQj3qGCWsx0Y6E4zv7jrsC4/psrF1jmHyu5qMHLVBc0Cnq1f4QQX3ulq' +
      'iqgRf+4GsxH7OrssGOf8HB6EdPaw1FLvpVClp4/Mlvp/sGAvzTHy1be5ymizz7syYUvweyuGlfAY6Dbtw7YwDIVD9TKx9T2s8KSx' +
      'zhyEr+3EZKC7iEEH79mq/4F+pl8a4uIY6FMwD/0tDDWG8VgQnMnKxVdkO71sbXRqtvsQ7AbZ4iveO/9zyRcBKui3d7H/2dCAGOhO' +
      'NB6EdPS6WiIxQWCa7Mub2maveazIq5GDQ1olCNw2VIBcVH8ICEAY6FRfY6fBsk7mOzAMO8MosBaqJbGcNm0mvLJbqiajB5HPDVM5' +
      'fmUNYEMQsIJMGOkSLrsTTd+MN6y6nR7VbuAlVYfn5ILlm2Ip3cSazCj4YtzY4lz0Ppar6gcY6KLhLRSN9OkCjF8OyyqfBscShAJ4' +
      '4jMcQwDExCmZaM305euAGA6lEWg+/dizD/9fbJCvy8ng206zty/V/GRlQ1PBkiIy6VoYDqURaD76r/QjRDGZ85wdRNX1ZzeEWDn6' +
      'mf+OX1LUTPLmYBgOpEGphcpsu65BptVeYq9qQkSGEIS/IZou6QIqA21gIBgOpRFoPnqwhzQUqB5y+Im3K+9OT+ST2dz4O79IAvQt' +
      '+hQYDqURaD76s8BrI/DeNFZRE2/Tb4U6695qD1Dy62WCHqLgGA6lEWg+al1oCBfQ9dSuaRppFEEg1gCCGo/4l1vFirAtXPgYLqUR' +
      'aD76sCReEBU9PKozINMcl6SuEH184JS8Gh46gA==',
    'base64',
  ),
};

/** A picture of 32 by 24. */
export const JPEG: SampleFile = {
  type: 'image/jpeg',
  bytes: Buffer.from(
    '/9j/4AAQSkZJRgABAgAAAQABAAD//gAQTGF2YzU4LjQyLjEwMAD/2wBDAAgEBAQEBAUFBQUFBQYGBgYGBgYGBgYGBgYHBwcICAgH' +
      'BwcGBgcHCAgICAkJCQgICAgJCQoKCgwMCwsODg4RERT/xABNAAEBAAAAAAAAAAAAAAAAAAAABgEBAQEAAAAAAAAAAAAAAAAAAAYH' +
      'EAEAAAAAAAAAAAAAAAAAAAAAEQEAAAAAAAAAAAAAAAAAAAAA/8AAEQgAGAAgAwEiAAIRAAMRAP/aAAwDAQACEQMRAD8AiwEo38AA' +
      'AAAB/9k=',
    'base64',
  ),
};

/** A tone of 0.3 s. */
export const MP3: SampleFile = {
  type: 'audio/mpeg',
  bytes: Buffer.from(
    '/+MYxAANIJaceUwAAAgLdwL3ve973vSlKUpSnXve97/O007EMCYEwJiOf8OBAEMTh///nOn3f0ghy/uxAAwf4Y6VJoiwyxM//+MY' +
      'xAYOcPKUAZRQAOOaK1HKELf4WeEcgd4wBjwknAO+SEaSHgdCKJzCSAyBRFYRQiv/yEej044iEv+EgaEp0Gn//////////+MYxAcN' +
      '6KZAAd4AAP/////5UlsAgAk1hCAIYEIKBg1gtGDmI8Yc8ixjCCGGF6CYYGYGgOAjL7g4A1IV1Or///fVgRe0wIIy/+MYxAoM2KY0' +
      'AAa8RCSNAlOPYMMAUs23aCzPQD/MJ0EIwMgCygApRNE5UrDrH////////q/9Vc8/1hhhhhbz/DDDmFJG6fWG/+MYxBEQ+L5kAVwY' +
      'ABXf+aXIXjVjMACAxYSj22ROCoMxuFwMG5dZa278P188886TAaH4OHC9YIcoc4Y5R3DHKCRJMcBLJVJe/+MYxAgO8OqYAZRYAD2M' +
      'wPAsazJJfhigLfANa4AYXlIyTR8ZhoCObkwno1Lef/3mhu8ExI3+FwTEgXFf/FhcVFpMQU1FMy4x/+MYxAcAAANIAcAAADAwqqqq' +
      'qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq',
    'base64',
  ),
};

/** A sticker. */
export const WEBP: SampleFile = {
  type: 'image/webp',
  bytes: Buffer.from(
    'UklGRhQCAABXRUJQVlA4IAgCAABQOgCdASoAAgACP83m8XO/uDOsoAgD8DmJaW7hd2EbQAnsA99snIe+2TkPfbJyHvtk5D32ych7' +
      '7ZOQ99snIe+2TkPfbJyHvtk5D32ych77ZOQ99snIe+2TkPfbJyHvtk5D32ych77ZOQ99snIe+2TkPfbJyHvtk5D32ych77ZOQ99s' +
      'nIe+2TkPfbJyHvtk5D32ych77ZOQ99snIe+2TkPfbJyHvtk5D32ych77ZOQ99snIe+2TkPfbJyHvtk5D32ych77ZOQ99snIe+2Tk' +
      'PfbJyHvtk5D32ych77ZOQ99snIe+2TkPfbJyHvtk5D32ych77ZOQ99snIe+2TkPfbJyHvtk5D32ych77ZOQ99snIe+2TkPfbJyHv' +
      'tk5D32ych77ZOQ99snIe+2TkPfbJyHvtk5D32ych77ZOQ99snIe+2TkPfbJyHvtk5D32ych77ZOQ99snIe+2TkPfbJyHvtk5D32y' +
      'ch77ZOQ99snIe+2TkPfbJyHvtk5D32ych77ZOQ99snIe+2TkPfbJyHvtk5D32ych77ZOQ99snIe+2TkPfbJyHvtk5D32ych77ZOQ' +
      '99snIe+2TkPfbJyHvtk5D32ych77ZOQ99snIe+2TkPfbJyHvtk5D32ych6wAAP7/Q8H6D4uX//UT2Ed98wAAAAAAAAAAAAAAAAAA' +
      'AAAAAAAAAAAAAAAAAAAA',
    'base64',
  ),
};
