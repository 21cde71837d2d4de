/* A menu in ncurses: arrows move, Enter picks, q ends. */
#include <curses.h>
#include <stdio.h>

static const char *fruits[] = {"Apple", "Pear", "Plum", "Quince"};
enum { FRUITS = sizeof fruits / sizeof fruits[0] };

static void draw(int at) {
  erase();
  box(stdscr, 0, 0);
  mvprintw(0, 2, " Fruit ");
  for (int i = 0; i < FRUITS; i++) {
    if (i == at) attron(A_REVERSE | COLOR_PAIR(1));
    mvprintw(i + 1, 2, "%-12s", fruits[i]);
    attrset(A_NORMAL);
  }
  mvprintw(LINES - 1, 2, " q ends ");
  refresh();
}

int main(void) {
  initscr();
  cbreak();
  noecho();
  keypad(stdscr, TRUE);
  curs_set(0);
  start_color();
  use_default_colors();
  init_pair(1, COLOR_GREEN, -1);
  int at = 0, key, picked = -1;
  draw(at);
  while (picked < 0 && (key = getch()) != 'q') {
    if (key == KEY_UP && at > 0) at--;
    if (key == KEY_DOWN && at < FRUITS - 1) at++;
    if (key == '\n') picked = at;
    draw(at); /* a new size, too: KEY_RESIZE */
  }
  endwin();
  if (picked < 0) return 1;
  printf("%s\n", fruits[picked]);
  return 0;
}
