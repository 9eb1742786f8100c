import type { Catalogue } from '../catalogue.js';

export const events: Catalogue['events'] = {
  way: 'Quais eventos',
  live: {
    name: 'Ao vivo',
    about: 'Os eventos à medida que acontecem.',
    none: 'Nada aconteceu desde que você abriu esta página.',
    state: {
      opening: 'Conectando',
      open: 'Ao vivo',
      away: 'Conexão perdida; ela é reaberta sozinha',
      paused: 'Em pausa',
    },
    waiting: 'Novos: {{n}}',
    pause: 'Pausar',
    continue: 'Continuar',
    clear: 'Limpar',
    more: 'São mostrados os {{n}} mais recentes. Todos estão em “Guardados”.',
  },
  stored: {
    name: 'Guardados',
    about: 'Os eventos em ordem, como o seu programa os lê por cursor.',
    after: 'Depois do evento número',
    go: 'Mostrar',
    none: 'Não há eventos depois deste.',
    before: 'Anterior',
    next: 'Próxima',
    cursor: 'Cursor: {{cursor}}',
  },
  row: { facts: 'Evento {{sequence}}, {{id}}, {{time}}', body: 'Conteúdo do evento' },
};
