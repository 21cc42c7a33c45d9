DROP TABLE user_event;
DROP TABLE user_list_place;
DROP TABLE user_list_share;
DROP TABLE user_list_item;
DROP TABLE user_list;
